package dev.pipewright.planner;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.planner.partition.CoarseCuts;
import java.util.Arrays;

/** How much of the space an instance of a given size lets us search. */
final class Effort {
  /** Up to this many devices every stage size is considered. */
  private static final int EVERY_SIZE = 64;

  /** Above this many positions times units of devices a network is planned in blocks of layers. */
  private static final int FINE = 4_096;

  /** Blocks are never made fewer than this. */
  private static final int LEAST_BLOCKS = 96;

  /** With more positions than this a branched network is planned along one way through it. */
  private static final int MANY_BRANCHES = 400;

  /**
   * Up to so many states every placement is considered where a proof is wanted: beyond that the
   * steps from one state alone would not end.
   */
  private static final double MOST_STATES = 1e12;

  private Effort() {}

  /** Up to how many states of a cluster every placement is considered. */
  static double states(boolean exact) {
    return exact ? MOST_STATES : PlacementSpace.EVERY_PLACEMENT_STATES;
  }

  /** Partial plans that a planning may price in its exact pass before it narrows. */
  static long budget(StageCosts searched) {
    return small(searched) ? 48_000_000 : 20_000_000;
  }

  /**
   * What of a budget the next of so many searches gets: on small instances half, since it may
   * finish with that; on large ones, which will not finish, an equal share.
   */
  static long share(StageCosts searched, long budget, long searches) {
    return small(searched) ? budget / 2 : budget / searches;
  }

  private static boolean small(StageCosts searched) {
    return searched.size() * searched.workload().cluster().size() < FINE / 2;
  }

  /**
   * Stage sizes to consider: all on small clusters; on large ones parts of a machine and whole
   * machines, ever more coarsely.
   */
  static int[] stageSizes(Cluster cluster, int unit) {
    int[] all = PlacementSpace.allCounts(cluster, unit);
    if (all.length <= EVERY_SIZE) {
      return all;
    }
    int machine = Math.max(1, cluster.groups().get(0).get(0) / unit);
    return Arrays.stream(all).filter(count -> worthwhile(count / unit, machine)).toArray();
  }

  private static boolean worthwhile(int count, int machine) {
    if (count < machine) {
      return machine % count == 0;
    }
    if (count % machine != 0) {
      return false;
    }
    int machines = count / machine;
    int grain = Math.max(1, Integer.highestOneBit(machines) / 8);
    return machines % grain == 0;
  }

  /**
   * Costs for the search: of all positions, or of blocks of about equal work where those are too
   * many.
   *
   * @param stages that a pipeline has to have at least
   */
  static StageCosts searched(StageCosts costs, int stages) {
    Cluster cluster = costs.workload().cluster();
    int units = Math.min(cluster.size(), Math.max(EVERY_SIZE, cluster.machines()));
    StageCosts chain = costs.size() <= MANY_BRANCHES ? costs : CoarseCuts.onePath(costs);
    int most = Math.max(Math.max(units, 2 * stages), Math.max(LEAST_BLOCKS, FINE / units));
    return chain.size() <= most
        ? chain
        : CoarseCuts.blocks(chain, chain.cheapestSecondsPerSample(1), most);
  }
}
