package airflow_partitions;

import java.util.List;
import java.util.Set;
import org.apache.spark.sql.catalyst.plans.logical.CTERelationRef;
import org.apache.spark.sql.catalyst.plans.logical.Call;
import org.apache.spark.sql.catalyst.plans.logical.Command;
import org.apache.spark.sql.catalyst.plans.logical.CommandResult;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.OneRowRelation;
import org.apache.spark.sql.catalyst.plans.logical.Range;
import org.apache.spark.sql.catalyst.plans.logical.UnionLoopRef;
import org.apache.spark.sql.execution.LogicalRDD;
import org.apache.spark.sql.execution.command.AddArchivesCommand;
import org.apache.spark.sql.execution.command.AddFilesCommand;
import org.apache.spark.sql.execution.command.AddJarsCommand;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import scala.jdk.javaapi.CollectionConverters;

/** The relations of a plan as it was understood, compared with a promise. Those of which a part may be read are left to {@link PlannedScans}. */
final class AnalysedPlan {
  private final Promise promise;

  AnalysedPlan(Promise promise) {
    this.promise = promise;
  }

  void check(LogicalPlan plan) {
    if (plan.isStreaming()) throw promise.refusal("streams can't be compared with a promise: " + plan.simpleString(200));
    if (plan instanceof LogicalRelation relation && relation.relation() instanceof HadoopFsRelation files) files(files);
    else if (plan instanceof LogicalRDD rdd) rdd(rdd);
    else if (plan instanceof AddFilesCommand || plan instanceof AddJarsCommand || plan instanceof AddArchivesCommand
        || plan instanceof Call) {
      throw promise.refusal("what this reads can't be seen: " + plan.simpleString(200));
    }
    List<LogicalPlan> children = CollectionConverters.asJava(plan.children());
    if (children.isEmpty() && !harmless(plan)) throw promise.refusal(plan.simpleString(200));
    children.forEach(this::check);
    CollectionConverters.asJava(plan.subqueries()).forEach(this::check);
    for (Object inner : CollectionConverters.asJava(plan.innerChildren())) {
      if (inner instanceof LogicalPlan one) check(one);
    }
  }

  private void files(HadoopFsRelation relation) {
    for (String root : FileLocations.roots(relation)) {
      if (promise.ownPlace(root)) continue;
      if (!promise.places().contains(root)) {
        if (!promise.coversPartOf(root)) throw promise.refusal(root);
      } else if (!promise.attempt().equals(CollectionConverters.asJava(relation.options()).get(Promise.OPTION))) {
        throw promise.refusal(root + " is promised, and this read of it could be given what another session has cached;"
            + " expected option '" + Promise.OPTION + "' = '" + promise.attempt() + "'");
      }
    }
  }

  private void rdd(LogicalRDD plan) {
    Set<String> sources = RddSources.of(plan.rdd());
    if (!sources.isEmpty()) throw promise.refusal("RDD of " + String.join(", ", sources));
  }

  /** Whether a leaf reads nothing, or what it reads is seen elsewhere: in the plan of a command, or of a table. */
  private static boolean harmless(LogicalPlan leaf) {
    return leaf instanceof LocalRelation || leaf instanceof OneRowRelation || leaf instanceof Range
        || leaf instanceof Command || leaf instanceof CommandResult
        || leaf instanceof CTERelationRef || leaf instanceof UnionLoopRef
        || leaf instanceof LogicalRDD
        || leaf instanceof LogicalRelation relation && relation.relation() instanceof HadoopFsRelation
        || leaf instanceof DataSourceV2Relation relation && TableFiles.known(relation.table())
        || leaf.getClass().getSimpleName().startsWith("Resolved"); // names a thing, as in DESCRIBE
  }
}
