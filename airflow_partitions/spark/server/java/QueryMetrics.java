package airflow_partitions;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.ui.SQLAppStatusStore;
import org.apache.spark.sql.execution.ui.SQLExecutionUIData;
import scala.jdk.javaapi.CollectionConverters;

/** Metrics that Spark records of the queries of a server. Those of a plan are of its last run; here are those of each. */
final class QueryMetrics {
  private final SQLAppStatusStore store;

  QueryMetrics(SparkSession session) {
    store = session.sharedState().statusStore();
  }

  /** The number that the next query will have, or a smaller one. */
  long next() {
    List<SQLExecutionUIData> last =
        CollectionConverters.asJava(store.executionsList((int) Math.max(store.executionsCount() - 1, 0), 1));
    return last.isEmpty() ? 0 : last.get(0).executionId() + 1;
  }

  /** What each metric was in each of the queries from the first on that changed it. */
  Map<Long, List<Long>> values(Collection<Long> metrics, long first) {
    Map<Long, List<Long>> values = new HashMap<>();
    metrics.forEach(metric -> values.put(metric, new ArrayList<>()));
    if (metrics.isEmpty()) return values;
    for (SQLExecutionUIData query : CollectionConverters.asJava(store.executionsList())) {
      if (query.executionId() < first) continue;
      CollectionConverters.asJava(store.executionMetrics(query.executionId())).forEach((metric, text) -> {
        List<Long> runs = values.get((Long) metric);
        if (runs != null && !text.equals("0")) runs.add(Long.parseLong(text.replace(",", "")));
      });
    }
    return values;
  }
}
