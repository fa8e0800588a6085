package airflow_partitions;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.sql.connect.service.SparkListenerConnectOperationCanceled;

/**
 * Ends the jobs of operations that were cancelled just before.
 *
 * <p>Spark cancels the jobs that run at that moment, and a stage that is about to become a job by a thread of its own
 * (ShuffleExchangeExec, BroadcastExchangeExec) then runs for nobody, for ever if it takes for ever. The two events come
 * in one order or in the other: a job that began before is cancelled when the operation is, one that begins after at
 * once.
 */
final class Cancellations extends SparkListener {
  private static final String REASON = "its operation was cancelled";
  private static final int REMEMBERED = 1_000;
  private static final Set<SparkContext> HEARD = Collections.newSetFromMap(new WeakHashMap<>());

  private final SparkContext context;
  private final Set<String> cancelled =
      Collections.newSetFromMap(
          new LinkedHashMap<>() {
            @Override
            protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
              return size() > REMEMBERED;
            }
          });

  private Cancellations(SparkContext context) {
    this.context = context;
  }

  /** Listens to a server, once. */
  static void hear(SparkContext context) {
    synchronized (HEARD) {
      if (HEARD.add(context)) context.addSparkListener(new Cancellations(context));
    }
  }

  @Override
  public void onOtherEvent(SparkListenerEvent event) {
    if (event instanceof SparkListenerConnectOperationCanceled operation) {
      cancelled.add(operation.jobTag());
      context.cancelJobsWithTag(operation.jobTag(), REASON);
    }
  }

  @Override
  public void onJobStart(SparkListenerJobStart job) {
    if (job.properties() == null) return;
    for (String tag : job.properties().getProperty("spark.job.tags", "").split(",")) {
      if (cancelled.contains(tag)) context.cancelJob(job.jobId(), REASON);
    }
  }
}
