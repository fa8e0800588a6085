package airflow_partitions;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Set;
import java.util.TreeSet;

/**
 * What a session may read.
 *
 * @param strict whether all else is refused
 * @param attempt the name of the try that the session works for, which its reads carry as an option
 * @param places folders and files, exactly these
 * @param own folders of what the session itself wrote, with all that is in them
 */
record Promise(boolean strict, String attempt, Set<String> places, Set<String> own) {
  static final int VERSION = 1;
  /** The option by which a read shows the name of its try. */
  static final String OPTION = "airflow_partitions.attempt";

  /** Null if it is of another version, of which the client is told. */
  static Promise parse(String text) {
    JsonNode json;
    try {
      json = new ObjectMapper().readTree(text);
    } catch (JsonProcessingException error) {
      throw new IllegalArgumentException("INVALID_PROMISE expected JSON: " + error.getOriginalMessage());
    }
    if (json.path("version").asInt() != VERSION) return null;
    if (!json.path("strict").isBoolean() || !json.path("attempt").isTextual() || !json.path("places").isArray()) {
      throw new IllegalArgumentException("INVALID_PROMISE expected strict, attempt and places, and perhaps own");
    }
    return new Promise(json.get("strict").asBoolean(), json.get("attempt").asText(), places(json.get("places")),
        places(json.path("own")));
  }

  private static Set<String> places(JsonNode paths) {
    Set<String> places = new TreeSet<>();
    paths.forEach(path -> places.add(Place.of(path.asText())));
    return places;
  }

  /** Whether this place, no other, may be read. */
  boolean covers(String place) {
    return places.contains(place) || ownPlace(place);
  }

  boolean ownPlace(String place) {
    return own.stream().anyMatch(folder -> Place.inside(place, folder));
  }

  /** Whether some promised places lie below this one, so that a filter may leave only these. */
  boolean coversPartOf(String place) {
    return places.stream().anyMatch(each -> Place.inside(each, place));
  }

  /** The error of a read of something else. */
  SecurityException refusal(String what) {
    String some = places.isEmpty() ? "nothing" : String.join(", ", places.stream().limit(3).toList());
    String more = places.size() > 3 ? " and " + (places.size() - 3) + " more" : "";
    return new SecurityException("UNPROMISED_READ " + what + "; promised: " + some + more + ". Nothing was read."
        + " Read the inputs that the function is given, or say strict=False");
  }
}
