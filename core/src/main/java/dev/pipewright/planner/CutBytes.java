package dev.pipewright.planner;

import java.util.Arrays;

/**
 * Bytes of a sample over the cuts between runs of layers.
 *
 * <p>O(runs²) numbers.
 */
final class CutBytes {
  private final double[] after; // by run, but the last
  private final double[][] narrowest; // by end and number: sums of the least over cuts before

  /** By run of layers but the last: bytes over the cut behind it. */
  CutBytes(double[] after) {
    this.after = after;
    this.narrowest = new double[after.length + 2][];
    double[] sorted = new double[0];
    for (int end = 0; end < narrowest.length; end++) {
      double[] sums = new double[sorted.length + 1];
      for (int i = 0; i < sorted.length; i++) {
        sums[i + 1] = sums[i] + sorted[i];
      }
      narrowest[end] = sums;
      if (end > 0 && end <= after.length) { // the cut at this end is before the next one
        sorted = with(sorted, after[end - 1]);
      }
    }
  }

  private static double[] with(double[] sorted, double figure) {
    double[] more = Arrays.copyOf(sorted, sorted.length + 1);
    more[sorted.length] = figure;
    Arrays.sort(more);
    return more;
  }

  int size() {
    return after.length;
  }

  /** Behind so many runs, fewer than all. */
  double at(int end) {
    return after[end - 1];
  }

  /** Of so many of the narrowest cuts together. */
  double narrowest(int cuts) {
    return narrowest[narrowest.length - 1][cuts];
  }

  /** The same of cuts before some end; as many as there are. */
  double narrowest(int cuts, int end) {
    return narrowest[end][Math.min(cuts, narrowest[end].length - 1)];
  }

  /** Whether every cut carries something. */
  boolean all() {
    return after.length > 0 && narrowest(1) > 0;
  }
}
