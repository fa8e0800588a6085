package airflow_partitions;

import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.ScanFileListing;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Where a scan of files read.
 *
 * @param roots folders and files it was given
 * @param read the roots, if it read each of them as one partition; else the folders of the files
 */
record FileLocations(Set<String> roots, Set<String> read) {
  static FileLocations of(HadoopFsRelation relation, ScanFileListing listing) {
    Set<String> roots = roots(relation), folders = new TreeSet<>();
    boolean whole = relation.partitionSchema().size() > 0 && listing.partitionCount() == roots.size();
    for (PartitionedFile file : listing.toPartitionArray()) {
      Path path = file.toPath();
      folders.add(Place.of(path.getParent()));
      whole &= roots.contains(Place.of(path)) || roots.contains(Place.of(path.getParent()));
    }
    return new FileLocations(roots, whole ? roots : folders);
  }

  static Set<String> roots(HadoopFsRelation relation) {
    Set<String> roots = new TreeSet<>();
    CollectionConverters.asJava(relation.location().rootPaths()).forEach(path -> roots.add(Place.of(path)));
    return roots;
  }
}
