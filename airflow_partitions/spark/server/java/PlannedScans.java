package airflow_partitions;

import java.util.Set;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.datasources.FileStatusWithMetadata;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.PartitionDirectory;
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec;
import scala.jdk.javaapi.CollectionConverters;

/** The scans of a plan that is about to run, compared with a promise. */
final class PlannedScans {
  private final Promise promise;
  private final SparkSession session;

  PlannedScans(Promise promise, SparkSession session) {
    this.promise = promise;
    this.session = session;
  }

  void check(SparkPlan plan) {
    PlanNodes.each(plan, node -> {
      if (node instanceof FileSourceScanExec scan) files(scan);
      else if (node instanceof BatchScanExec scan) table(scan);
    });
  }

  private void files(FileSourceScanExec scan) {
    HadoopFsRelation relation = scan.relation();
    Set<String> roots = FileLocations.roots(relation);
    if (roots.stream().allMatch(promise::ownPlace)) return;
    if (relation.sparkSession() != session) {
      throw promise.refusal("another session has cached " + String.join(", ", roots.stream().limit(3).toList())
          + " and this read would be given that; expected option '" + Promise.OPTION + "' = '" + promise.attempt() + "'");
    }
    if (roots.stream().allMatch(promise::covers)) return;
    // What a join will leave is known when it runs: then it is counted, and compared by the client.
    if (CollectionConverters.asJava(scan.partitionFilters()).stream().anyMatch(PlannedScans::dynamic)) return;
    // Not by the scan itself, whose metrics would tell of files that nobody has read yet.
    for (PartitionDirectory directory : CollectionConverters.asJava(
        relation.location().listFiles(scan.partitionFilters(), scan.dataFilters()))) {
      for (FileStatusWithMetadata file : CollectionConverters.asJava(directory.files())) {
        String folder = Place.of(file.getPath().getParent());
        if (!promise.covers(folder) && !promise.covers(Place.of(file.getPath()))) throw promise.refusal(folder);
      }
    }
  }

  private void table(BatchScanExec scan) {
    if (!TableFiles.known(scan)) throw promise.refusal(scan.simpleString(200));
    Set<String> files = TableFiles.of(scan).keySet();
    files.stream().filter(file -> !promise.covers(file)).findFirst().ifPresent(file -> {
      throw promise.refusal(file);
    });
  }

  private static boolean dynamic(Expression filter) {
    return filter.exists(each -> each.getClass().getSimpleName().startsWith("DynamicPruning"));
  }
}
