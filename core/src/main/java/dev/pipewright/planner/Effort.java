package dev.pipewright.planner;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.StageCosts;
import java.util.Arrays;

/** How much of the space an instance of a given size lets us search. */
final class Effort {
  /** Up to this many devices every stage size is considered. */
  private static final int EVERY_SIZE = 64;

  private Effort() {}

  /** Partial plans kept for each number of layers left. */
  static int beam(StageCosts costs) {
    long size = (long) costs.size() * costs.workload().cluster().size();
    return size <= 1L << 15 ? Integer.MAX_VALUE : (int) Math.max(48, (1L << 23) / size);
  }

  /**
   * Stage sizes to consider: all on small clusters; on large ones all small and some large ones.
   */
  static int[] stageSizes(Cluster cluster, int unit) {
    int[] all = PlacementSpace.allCounts(cluster, unit);
    if (all.length <= EVERY_SIZE) {
      return all;
    }
    int machine = cluster.groups().get(0).get(0);
    return Arrays.stream(all).filter(count -> worthwhile(count / unit, machine)).toArray();
  }

  /** Powers of two inside a machine; whole machines, ever more coarsely. */
  private static boolean worthwhile(int count, int machine) {
    if (count <= machine) {
      return Integer.bitCount(count) == 1 || count == machine;
    }
    if (count % machine != 0) {
      return false;
    }
    int machines = count / machine;
    int grain = Math.max(1, Integer.highestOneBit(machines) / 8);
    return machines % grain == 0;
  }
}
