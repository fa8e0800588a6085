package airflow_partitions;

import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.spark.sql.execution.CommandResultExec;
import org.apache.spark.sql.execution.ReusedSubqueryExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec;
import org.apache.spark.sql.execution.adaptive.QueryStageExec;
import org.apache.spark.sql.execution.columnar.InMemoryTableScanExec;
import org.apache.spark.sql.execution.exchange.ReusedExchangeExec;
import scala.jdk.javaapi.CollectionConverters;

/** All nodes of a plan, through adaptive execution, stages, subqueries, what is reused and what is cached. */
final class PlanNodes {
  private final Consumer<SparkPlan> visitor;
  private final Set<Integer> seen = new HashSet<>();

  private PlanNodes(Consumer<SparkPlan> visitor) {
    this.visitor = visitor;
  }

  static void each(SparkPlan plan, Consumer<SparkPlan> visitor) {
    new PlanNodes(visitor).visit(plan);
  }

  private void visit(SparkPlan plan) {
    boolean stage = plan instanceof QueryStageExec; // the ids of stages are numbers of their own
    if (!stage && !seen.add(plan.id())) return;
    visitor.accept(plan);
    if (plan instanceof InMemoryTableScanExec scan) visit(scan.relation().cachedPlan());
    else if (plan instanceof QueryStageExec one) visit(one.plan());
    else if (plan instanceof ReusedExchangeExec reused) visit(reused.child());
    else if (plan instanceof ReusedSubqueryExec reused) visit((SparkPlan) reused.child());
    else if (plan instanceof CommandResultExec result) visit(result.commandPhysicalPlan());
    else if (plan instanceof AdaptiveSparkPlanExec adaptive) {
      visit(adaptive.initialPlan());
      visit(adaptive.executedPlan());
      // Stages that ran and were then optimised away, say because the other side of a join is empty.
      CollectionConverters.asJava(adaptive.context().stageCache().values()).forEach(this::visit);
    }
    CollectionConverters.asJava(plan.children()).forEach(this::visit);
    CollectionConverters.asJava(plan.subqueries()).forEach(this::visit);
  }
}
