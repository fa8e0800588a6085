package airflow_partitions;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.spark.Dependency;
import org.apache.spark.rdd.RDD;
import scala.jdk.javaapi.CollectionConverters;

/** What an RDD reads from, in words: it has no plan to count by. */
final class RddSources {
  /** RDDs that begin with what the client had, or with what was read, and looked at, before. */
  private static final Set<String> HARMLESS =
      Set.of("ParallelCollectionRDD", "EmptyRDD", "LocalCheckpointRDD", "ReliableCheckpointRDD");

  private RddSources() {}

  static Set<String> of(RDD<?> rdd) {
    Set<String> sources = new TreeSet<>();
    Set<Integer> seen = new HashSet<>();
    Deque<RDD<?>> left = new ArrayDeque<>(Set.of(rdd));
    while (!left.isEmpty()) {
      RDD<?> one = left.pop();
      if (!seen.add(one.id())) continue;
      List<? extends Dependency<?>> parents = CollectionConverters.asJava(one.dependencies());
      parents.forEach(parent -> left.push(parent.rdd()));
      String kind = one.getClass().getSimpleName();
      if (parents.isEmpty() && !HARMLESS.contains(kind)) {
        sources.add(one.name() == null ? kind : kind + " " + one.name());
      }
    }
    return sources;
  }
}
