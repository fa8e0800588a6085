package airflow_partitions;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.RowDataSourceScanExec;
import org.apache.spark.sql.execution.ScanFileListing;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec;
import org.apache.spark.sql.execution.metric.SQLMetric;
import scala.jdk.javaapi.CollectionConverters;

/** One scan that ran. It holds nothing of the session. */
sealed interface Scan {
  /** The id of the metric that counts its rows. */
  long metric();

  /** Rows of its last run. */
  long rows();

  /** Its form in JSON, yet without rows. */
  ObjectNode json();

  /** The scan of this node; null if it is none, or did not run. */
  static Scan of(SparkPlan node) {
    if (node instanceof FileSourceScanExec scan) return idle(scan) ? null : OfFiles.of(scan);
    if (node instanceof BatchScanExec scan && TableFiles.known(scan)) {
      return new OfTable(number(node), value(node, "numOutputRows"), TableFiles.of(scan));
    }
    boolean other = node instanceof BatchScanExec || node instanceof RowDataSourceScanExec;
    // The classes of Hive are not on every class path.
    if (!other && !node.getClass().getSimpleName().equals("HiveTableScanExec")) return null;
    return new Other(number(node), value(node, "numOutputRows"), node.simpleString(200));
  }

  private static boolean idle(FileSourceScanExec scan) {
    return value(scan, "numOutputRows") == 0 && value(scan, "numFiles") == 0 && value(scan, "scanTime") == 0;
  }

  private static long number(SparkPlan node) {
    return metric(node, "numOutputRows").id();
  }

  private static long value(SparkPlan node, String name) {
    SQLMetric metric = metric(node, name);
    return metric == null ? 0 : metric.value();
  }

  private static SQLMetric metric(SparkPlan node, String name) {
    return CollectionConverters.asJava(node.metrics()).get(name);
  }

  /** Of files that Spark lists: roots are what it was given, locations what it read from. */
  record OfFiles(long metric, long rows, Set<String> roots, Set<String> locations, long files, long bytes)
      implements Scan {
    static OfFiles of(FileSourceScanExec scan) {
      // Its metrics have the files too, but only of the first run.
      ScanFileListing listing = scan.dynamicallySelectedPartitions();
      FileLocations locations = FileLocations.of(scan.relation(), listing);
      return new OfFiles(number(scan), value(scan, "numOutputRows"), locations.roots(), locations.read(),
          listing.totalNumberOfFiles(), listing.totalFileSize());
    }

    @Override
    public ObjectNode json() {
      ObjectNode json = JsonNodeFactory.instance.objectNode().put("kind", "files");
      roots.forEach(json.putArray("roots")::add);
      locations.forEach(json.putArray("locations")::add);
      return json.put("files", files).put("bytes", bytes);
    }
  }

  /** Of a table of Iceberg: its data files with their sizes, read as a whole, of which rows may be left out later. */
  record OfTable(long metric, long rows, Map<String, Long> files) implements Scan {
    @Override
    public ObjectNode json() {
      ObjectNode json = JsonNodeFactory.instance.objectNode().put("kind", "table");
      files.forEach(json.putObject("files")::put);
      return json;
    }
  }

  /** Of any other source: it has no locations to compare, so its description stands in. */
  record Other(long metric, long rows, String description) implements Scan {
    @Override
    public ObjectNode json() {
      return JsonNodeFactory.instance.objectNode().put("kind", "other").put("description", description);
    }
  }
}
