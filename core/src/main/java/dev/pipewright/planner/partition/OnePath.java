package dev.pipewright.planner.partition;

import dev.pipewright.model.Chain;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * One way through a network with branches: positions that all follow one another, as many as there
 * are on a longest such way. On a chain all positions.
 */
public final class OnePath {
  private OnePath() {}

  /**
   * The positions, ascending; the last is the chain's last. What lies between two of them belongs
   * to the later. O(positions²) on networks with branches.
   */
  public static int[] positions(Chain chain) {
    int size = chain.size();
    int[] length = new int[size]; // of the longest way that ends there
    int[] before = new int[size];
    for (int to = 0; to < size; to++) {
      before[to] = to - 1;
      length[to] = to + 1;
      if (!chain.total()) {
        before[to] = longestBefore(chain, to, length);
        length[to] = before[to] < 0 ? 1 : length[before[to]] + 1;
      }
    }
    List<Integer> way = new ArrayList<>();
    for (int at = size - 1; at >= 0; at = before[at]) {
      way.add(at);
    }
    Collections.reverse(way);
    return way.stream().mapToInt(Integer::intValue).toArray();
  }

  private static int longestBefore(Chain chain, int to, int[] length) {
    int longest = -1;
    for (int from = 0; from < to; from++) {
      if (chain.precedes(from, to) && (longest < 0 || length[from] > length[longest])) {
        longest = from;
      }
    }
    return longest;
  }

  /** For each of some positions the sum over the layers that lie after the one before it. */
  public static double[] weights(Chain chain, int[] positions, double[] perLayer) {
    double[] sums = chain.cumulative(perLayer);
    double[] weights = new double[positions.length];
    for (int i = 0; i < weights.length; i++) {
      double behind = i == 0 ? 0 : sums[positions[i - 1]];
      weights[i] = Math.max(0, sums[positions[i]] - behind);
    }
    return weights;
  }
}
