package airflow_partitions;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec;
import scala.jdk.javaapi.CollectionConverters;

/** The data files that the scan of a table of Iceberg reads. By reflection: Iceberg may be here in any version, or not. */
final class TableFiles {
  private static final String PACKAGE = "org.apache.iceberg.spark.";

  private TableFiles() {}

  /** Whether this is the scan of a table of Iceberg. */
  static boolean known(BatchScanExec scan) {
    return known(scan.scan());
  }

  static boolean known(Object scanOrTable) {
    return scanOrTable.getClass().getName().startsWith(PACKAGE);
  }

  /** Sizes in bytes by place. */
  static Map<String, Long> of(BatchScanExec scan) {
    Map<String, Long> files = new TreeMap<>();
    for (InputPartition partition : CollectionConverters.asJava(scan.inputPartitions())) {
      for (Object task : (Iterable<?>) answer(answer(partition, "taskGroup"), "tasks")) {
        Object file = answer(task, "file");
        files.put(Place.of((String) answer(file, "location")), (Long) answer(file, "fileSizeInBytes"));
      }
    }
    return files;
  }

  private static Object answer(Object object, String name) {
    try {
      Method method = object.getClass().getMethod(name);
      method.setAccessible(true); // its class may be private to Iceberg
      return method.invoke(object);
    } catch (ReflectiveOperationException error) {
      throw new IllegalStateException("no files in " + object.getClass().getName() + ": " + error, error);
    }
  }
}
