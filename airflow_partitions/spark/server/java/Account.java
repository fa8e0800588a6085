package airflow_partitions;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.spark.sql.execution.ExternalRDDScanExec;
import org.apache.spark.sql.execution.RDDScanExec;
import org.apache.spark.sql.execution.SparkPlan;

/** What one session was promised, and what its queries have read. */
final class Account {
  private final Map<Long, Scan> scans = new LinkedHashMap<>(); // by the id of the metric that counts rows
  private final Set<String> unseen = new TreeSet<>();
  private Promise promise;
  private long first;
  private int executions;
  private String failure;

  synchronized Promise promise() {
    return promise;
  }

  /**
   * Takes down what is promised.
   *
   * @param next the number of the next query of the server: those before are not this session's
   */
  synchronized void promise(Promise promise, long next) {
    if (this.promise == null) {
      this.promise = promise;
      first = next;
    } else if (!this.promise.equals(promise)) {
      throw new IllegalStateException(
          "PROMISED_ALREADY this session was promised what attempt '" + this.promise.attempt() + "' reads; expected the"
              + " same promise again, or a session of its own for attempt '" + promise.attempt() + "'");
    }
  }

  /** Counts what a query did whose plan was this. */
  synchronized void add(SparkPlan plan, boolean counts) {
    if (counts) executions++;
    PlanNodes.each(plan, node -> {
      Scan scan = Scan.of(node);
      if (scan != null) scans.put(scan.metric(), scan);
      else if (node instanceof RDDScanExec rdd) unseen.addAll(RddSources.of(rdd.rdd()));
      else if (node instanceof ExternalRDDScanExec<?> rdd) unseen.addAll(RddSources.of(rdd.rdd()));
    });
  }

  synchronized void fail(Throwable error) {
    failure = String.valueOf(error);
  }

  synchronized String json(QueryMetrics metrics) {
    ObjectNode json = JsonNodeFactory.instance.objectNode().put("executions", executions);
    ArrayNode all = json.putArray("scans");
    Map<Long, List<Long>> values = metrics.values(scans.keySet(), first);
    scans.forEach((metric, scan) -> {
      List<Long> runs = values.get(metric);
      for (long rows : runs.isEmpty() ? List.of(scan.rows()) : runs) all.add(scan.json().put("rows", rows));
    });
    unseen.forEach(json.putArray("unseen")::add);
    return json.put("failure", failure).toString();
  }
}
