package airflow_partitions;

import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.util.QueryExecutionListener;

/** What a server is told by spark.sql.queryExecutionListeners: each session has one, which writes its account. */
public final class Listener implements QueryExecutionListener {
  @Override
  public void onSuccess(String name, QueryExecution execution, long nanoseconds) {
    Account account = Accounts.of(execution.sparkSession());
    try {
      account.add(execution.executedPlan(), !TableFunctions.alone(execution.analyzed()));
    } catch (Throwable error) { // Spark would only log it, and a count would be missing
      account.fail(error);
    }
  }

  @Override
  public void onFailure(String name, QueryExecution execution, Exception cause) {
    SparkPlan plan;
    try {
      plan = execution.executedPlan();
    } catch (Throwable error) { // it was refused or not understood, and never ran
      return;
    }
    Account account = Accounts.of(execution.sparkSession());
    try {
      account.add(plan, true);
    } catch (Throwable error) {
      account.fail(error);
    }
  }
}
