package dev.pipewright.planner;

import dev.pipewright.cost.StageCosts;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** How fast the ranks of grids are, where devices differ, and what their passes take at least. */
final class RankSpeeds {
  private final StageCosts costs;
  private final boolean equal;
  private final Map<List<Object>, double[]> known = Collections.synchronizedMap(new HashMap<>());

  RankSpeeds(StageCosts costs) {
    this.costs = costs;
    this.equal = costs.workload().cluster().homogeneous();
  }

  /**
   * All passes of a step, shared by ranks that differ in speed: in T seconds a rank does as much as
   * the fastest device in T divided by how much slower it is. Exchanges take as long on all.
   *
   * @param passes seconds of a micro-batch's passes on the fastest device, with exchanges
   * @param exchanges seconds of them that no device is faster at
   * @return 0 where ranks do not differ
   */
  double seconds(Grid grid, int microBatches, double passes, double exchanges) {
    if (equal) {
      return 0;
    }
    double[] speeds = of(grid);
    double slowest = Arrays.stream(speeds).min().orElseThrow();
    double least = passes - (1 - slowest) * exchanges;
    return microBatches * least / LayerLoads.sum(speeds);
  }

  /** Of each rank, as a part of the fastest device's: 1 at most. */
  private double[] of(Grid grid) {
    return known.computeIfAbsent(
        List.of(grid.ranks(), grid.replicas(), grid.arrangement()),
        key -> {
          double fastest = costs.fastest();
          return IntStream.range(0, grid.ranks())
              .mapToDouble(rank -> fastest / grid.pace(rank, costs))
              .toArray();
        });
  }
}
