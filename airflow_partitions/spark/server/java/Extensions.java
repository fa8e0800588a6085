package airflow_partitions;

import org.apache.spark.SparkContext;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.ColumnarRule;
import org.apache.spark.sql.execution.SparkPlan;
import scala.Function1;
import scala.runtime.AbstractFunction1;
import scala.runtime.BoxedUnit;

/**
 * What a server is told by spark.sql.extensions: the table functions, and the rules that hold a session to its promise.
 * With them comes what ends the jobs of cancelled operations.
 */
public final class Extensions extends AbstractFunction1<SparkSessionExtensions, BoxedUnit> {
  @Override
  public BoxedUnit apply(SparkSessionExtensions extensions) {
    extensions.injectTableFunction(TableFunctions.promise());
    extensions.injectTableFunction(TableFunctions.reads());
    extensions.injectCheckRule(Extensions::analysed);
    extensions.injectColumnar(Extensions::planned);
    Cancellations.hear(SparkContext.getOrCreate());
    return BoxedUnit.UNIT;
  }

  private static Function1<LogicalPlan, BoxedUnit> analysed(SparkSession session) {
    return plan -> {
      Promise promise = Accounts.of(session).promise();
      if (promise != null && promise.strict()) new AnalysedPlan(promise).check(plan);
      return BoxedUnit.UNIT;
    };
  }

  private static ColumnarRule planned(SparkSession session) {
    return new ColumnarRule() {
      @Override
      public Rule<SparkPlan> preColumnarTransitions() {
        return new Check(session);
      }
    };
  }

  /** Runs after a plan is made and before any of its stages; changes nothing. */
  private static final class Check extends Rule<SparkPlan> {
    private final SparkSession session;

    Check(SparkSession session) {
      this.session = session;
    }

    @Override
    public SparkPlan apply(SparkPlan plan) {
      Promise promise = Accounts.of(session).promise();
      if (promise != null && promise.strict()) new PlannedScans(promise, session).check(plan);
      return plan;
    }
  }
}
