package dev.pipewright.planner.madpipe;

import dev.pipewright.cost.StageCosts;
import java.util.Arrays;

/** Where a network can be cut so that all runs between cuts, and of them, are stages. */
final class Cuts {
  private Cuts() {}

  /**
   * Ends of positions from 0 to the size, each behind the one before: all where the chain is total,
   * otherwise, from the end, always the longest position that leads there.
   */
  static int[] oneWay(StageCosts costs) {
    int[] backwards = new int[costs.size() + 1];
    int count = 0;
    for (int end = costs.size(); end > 0; ) {
      backwards[count++] = end;
      int next = end - 1;
      while (next > 0 && !costs.isStage(next, end)) {
        next--;
      }
      end = next;
    }
    backwards[count++] = 0;
    int[] ends = Arrays.copyOf(backwards, count);
    for (int i = 0; i < count; i++) {
      ends[i] = backwards[count - 1 - i];
    }
    return ends;
  }

  /**
   * Ends of at most so many runs of layers of about equal work, each where transfers take least
   * thereabouts; all ends where there are no more.
   */
  static int[] blocks(LayerChain chain, int most) {
    int layers = chain.layers();
    int[] ends = new int[Math.min(layers, most) + 1];
    if (layers <= most) {
      Arrays.setAll(ends, end -> end);
      return ends;
    }
    double block = chain.seconds(0, layers) / most;
    int count = 1;
    int end = 1;
    for (int run = 1; run < most; run++) {
      int best = -1;
      for (; end < layers && chain.seconds(0, end) < (run + 0.5) * block; end++) {
        if (best < 0 || chain.cutSeconds(end) <= chain.cutSeconds(best)) {
          best = end;
        }
      }
      if (best > 0) {
        ends[count++] = best;
      }
    }
    ends[count++] = layers;
    return Arrays.copyOf(ends, count);
  }
}
