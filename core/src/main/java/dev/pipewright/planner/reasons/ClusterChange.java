package dev.pipewright.planner.reasons;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.ClusterVariants;
import java.util.ArrayList;
import java.util.List;

/**
 * A cluster that differs from another one in one respect.
 *
 * @param words the difference
 */
public record ClusterChange(String words, Cluster cluster) {
  private static final double MORE_MEMORY = 1.1;
  private static final double MORE_BANDWIDTH = 2;

  /** One machine or device more, a tenth more memory, and twice the outermost bandwidth. */
  public static List<ClusterChange> of(Cluster cluster) {
    List<ClusterChange> changes = new ArrayList<>();
    changes.add(
        new ClusterChange(
            cluster.machines() > 1 ? "one more machine" : "one more device",
            ClusterVariants.larger(cluster)));
    changes.add(
        new ClusterChange(
            "10 % more memory", ClusterVariants.withMemoryTimes(cluster, MORE_MEMORY)));
    if (cluster.size() > 1) {
      changes.add(
          new ClusterChange(
              cluster.machines() > 1
                  ? "twice the bandwidth between machines"
                  : "twice the bandwidth",
              ClusterVariants.withBandwidthTimes(cluster, MORE_BANDWIDTH)));
    }
    return changes;
  }
}
