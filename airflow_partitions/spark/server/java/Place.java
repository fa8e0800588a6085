package airflow_partitions;

import org.apache.hadoop.fs.Path;

/** Paths in one spelling: local ones without "file:", none with a slash at its end. */
final class Place {
  private Place() {}

  static String of(Path path) {
    return of(path.toString());
  }

  static String of(String path) {
    String place = path.startsWith("file:") ? path.replaceFirst("^file:/*", "/") : path;
    return place.length() > 1 && place.endsWith("/") ? place.substring(0, place.length() - 1) : place;
  }

  static boolean inside(String place, String folder) {
    return place.equals(folder) || place.startsWith(folder.endsWith("/") ? folder : folder + "/");
  }
}
