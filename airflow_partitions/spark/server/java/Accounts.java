package airflow_partitions;

import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;
import org.apache.spark.sql.SparkSession;

/** The accounts of all sessions of this server. One goes with its session: it holds nothing of it. */
public final class Accounts {
  private static final Map<SparkSession, Account> ALL = Collections.synchronizedMap(new WeakHashMap<>());

  private Accounts() {}

  static Account of(SparkSession session) {
    return ALL.computeIfAbsent(session, each -> new Account());
  }

  /** How many there are, for those who look after a server: select java_method('airflow_partitions.Accounts', 'count'). */
  public static int count() {
    return ALL.size();
  }
}
