package airflow_partitions;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.LiveListenerBus;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerEvent;

/** The events of a server, on their way to its listeners. */
final class Events {
  private static final int SECONDS = 60;

  private Events() {}

  /**
   * Waits until the listeners of queries, and the store of their metrics, have been told of all that happened until now.
   * Not until they have nothing left to do: with other sessions at work that may be never.
   */
  static void await(SparkContext context) {
    LiveListenerBus bus = context.listenerBus();
    Mark mark = new Mark();
    Arrival arrival = new Arrival(mark);
    bus.addToSharedQueue(arrival);
    bus.addToStatusQueue(arrival);
    try {
      bus.post(mark);
      if (!arrival.queues.await(SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException("the listeners of this server are more than a minute behind: nothing is proved");
      }
    } catch (InterruptedException error) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", error);
    } finally {
      bus.removeListener(arrival);
    }
  }

  private static final class Mark implements SparkListenerEvent {
    @Override
    public boolean logEvent() {
      return false;
    }
  }

  private static final class Arrival extends SparkListener {
    private final CountDownLatch queues = new CountDownLatch(2);
    private final Mark mark;

    Arrival(Mark mark) {
      this.mark = mark;
    }

    @Override
    public void onOtherEvent(SparkListenerEvent event) {
      if (event == mark) queues.countDown();
    }
  }
}
