package dev.pipewright.planner.pipedream;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.List;

/**
 * One level of PipeDream's hierarchy, innermost first: so many units of the level below (at the
 * innermost level: devices) joined by links of one rate.
 *
 * <p>Source: D. Narayanan et al., <i>PipeDream: Generalized Pipeline Parallelism for DNN
 * Training</i>, SOSP 2019, §3.1: its m_k and B_k.
 *
 * @param units of the level below in one unit of this level
 * @param bytesPerSecond between two of them
 */
public record BandwidthLevel(int units, double bytesPerSecond) {
  public BandwidthLevel {
    Check.that(units >= 1, "a level joins units: units=%d", units);
    Check.positive(bytesPerSecond, "bytes per second");
  }

  /**
   * The levels of a cluster, innermost first, with the rate between two devices: PipeDream knows
   * one rate for each level. Throws {@link IllegalArgumentException} where groups of a level differ
   * in size.
   */
  public static List<BandwidthLevel> of(Cluster cluster) {
    List<BandwidthLevel> levels = new ArrayList<>();
    int below = 1;
    for (int level = 0; level < cluster.levels().size(); level++) {
      List<Integer> sizes = cluster.groups().get(level);
      int size = sizes.get(0);
      Check.that(
          sizes.stream().allMatch(other -> other == size) && size % below == 0,
          "PipeDream's planners need groups of one size, and those of %s differ; make them equal or take --planner dapple",
          cluster.name());
      double rate = cluster.levels().get(level).pointToPoint().bandwidth().value();
      levels.add(new BandwidthLevel(size / below, rate));
      below = size;
    }
    return levels;
  }
}
