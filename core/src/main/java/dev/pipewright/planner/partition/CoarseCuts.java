package dev.pipewright.planner.partition;

import dev.pipewright.cost.StageCosts;
import java.util.Arrays;

/** Fewer cuts for planners to choose from, where a network has too many or branches cross them. */
public final class CoarseCuts {
  private CoarseCuts() {}

  /**
   * One way through the branches: from the end, always the longest position that leads there. The
   * same costs where there are none.
   */
  public static StageCosts onePath(StageCosts costs) {
    if (costs.total()) {
      return costs;
    }
    int[] ends = new int[costs.size() + 1];
    int from = ends.length;
    for (int end = costs.size(); end > 0; ) {
      ends[--from] = costs.inChain(end);
      int next = end - 1;
      while (next > 0 && !costs.isStage(next, end)) {
        next--;
      }
      end = next;
    }
    ends[--from] = 0;
    return costs.cutOnlyAt(Arrays.copyOfRange(ends, from, ends.length));
  }

  /**
   * Blocks of about equal weight.
   *
   * @param weight of all positions before each end, ascending
   * @param most blocks
   */
  public static StageCosts blocks(StageCosts costs, double[] weight, int most) {
    int size = costs.size();
    int[] ends = new int[most + 1];
    int count = 1;
    for (int end = 1; end <= size; end++) {
      boolean last = end == size;
      double wanted = weight[size] * count / most;
      if (last || (count < most && weight[end] + weight[end + 1] >= 2 * wanted)) {
        ends[count++] = costs.inChain(end);
      }
    }
    return costs.cutOnlyAt(Arrays.copyOf(ends, count));
  }
}
