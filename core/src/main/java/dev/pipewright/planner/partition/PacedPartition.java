package dev.pipewright.planner.partition;

import java.util.Arrays;

/**
 * Cuts a chain into stages for devices that differ in speed, so that the longest stage is as short
 * as possible: a dynamic program over stages and items.
 *
 * <p>Of equal cuts the one whose last stages begin last. O(stages · items²).
 */
public final class PacedPartition {
  private PacedPartition() {}

  /**
   * The first item of each stage.
   *
   * @param weights seconds of each item at pace 1
   * @param paces of each stage: a stage of weight w takes w · pace
   */
  public static int[] firsts(double[] weights, double[] paces) {
    int items = weights.length;
    int stages = paces.length;
    UniformLayers.checkStages(items, stages);
    PrefixSums sums = new PrefixSums(weights);
    int[][] first = new int[stages][items + 1]; // of the stage, by the end of it
    double[] before = new double[items + 1];
    Arrays.fill(before, Double.POSITIVE_INFINITY);
    before[0] = 0;
    for (int stage = 0; stage < stages; stage++) {
      double[] after = new double[items + 1];
      Arrays.fill(after, Double.POSITIVE_INFINITY);
      for (int end = stage + 1; end <= items - (stages - 1 - stage); end++) {
        for (int from = end - 1; from >= stage; from--) {
          double own = sums.sum(from, end) * paces[stage];
          double longest = Math.max(before[from], own);
          if (longest < after[end]) {
            after[end] = longest;
            first[stage][end] = from;
          }
          if (own > after[end]) {
            break; // more items take no less
          }
        }
      }
      before = after;
    }
    int[] firsts = new int[stages];
    int end = items;
    for (int stage = stages - 1; stage >= 0; stage--) {
      firsts[stage] = first[stage][end];
      end = firsts[stage];
    }
    return firsts;
  }
}
