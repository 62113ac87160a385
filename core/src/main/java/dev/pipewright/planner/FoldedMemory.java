package dev.pipewright.planner;

import dev.pipewright.planner.recompute.Recomputation;

/**
 * How much of its two stages a rank has to recompute at least, where a pipeline is folded ({@link
 * FoldedBound}): layers that are recomputed keep nothing and cost their forward pass a second time.
 *
 * <p>A relaxation: all layers keep as many bytes for each second of their forward pass as the one
 * that keeps most, and the stage of which more is in flight is recomputed first, in part.
 */
final class FoldedMemory {
  private static final double ROUNDING = 1 + 1e-9;

  private final double[] kept; // bytes of a micro-batch, of all runs before each end
  private final double[] states; // likewise
  private final double[] inputs; // of a stage that begins with each run
  private final double capacity;
  private final int holders;
  private final int[] inFlight;
  private final Recomputation recomputation;
  private final double freed; // bytes for each second, at most

  /**
   * Of a grid.
   *
   * @param inputs bytes of a micro-batch that a stage keeps which begins with each run of layers
   * @param states bytes of each run's states on a device, at least
   * @param capacity bytes of a device
   * @param holders ranks that have the same two stages
   * @param inFlight micro-batches of each stage at once, on all its holders; none where the order
   *     of work is not known
   */
  FoldedMemory(
      LayerLoads loads,
      double[] inputs,
      double[] states,
      double capacity,
      int holders,
      int[] inFlight,
      Recomputation recomputation) {
    this.kept = before(loads.kept());
    this.states = before(states);
    this.inputs = inputs;
    this.capacity = capacity;
    this.holders = holders;
    this.inFlight = inFlight;
    this.recomputation = recomputation;
    double most = 0;
    for (int at = 0; at < loads.size(); at++) {
      double kept = loads.kept()[at];
      most = kept == 0 ? most : Math.max(most, kept / loads.forward()[at]);
    }
    this.freed = most;
  }

  private static double[] before(double[] runs) {
    double[] sums = new double[runs.length + 1];
    for (int at = 0; at < runs.length; at++) {
      sums[at + 1] = sums[at] + runs[at];
    }
    return sums;
  }

  /** Two stages of a rank: runs {@code from..first-1} and {@code second..to-1}. */
  record Stages(int rank, int from, int first, int second, int to) {}

  /**
   * Seconds of forward passes over a micro-batch that run twice; infinite where that does not
   * suffice.
   *
   * @param stages of a rank
   * @param ofFirst bytes times seconds for each byte that the first stage keeps of a micro-batch
   * @param ofSecond the same of the second
   * @param seconds of a step
   */
  double seconds(Stages stages, double ofFirst, double ofSecond, double seconds) {
    double free =
        capacity
            - (states[stages.first()] - states[stages.from()])
            - (states[stages.to()] - states[stages.second()]);
    if (recomputation.always()) {
      return free * ROUNDING < 0 ? Double.POSITIVE_INFINITY : 0;
    }
    double overTime = recomputed(stages, ofFirst, ofSecond, free * seconds);
    if (inFlight.length == 0) {
      return overTime;
    }
    int other = inFlight.length - 1 - stages.rank();
    return Math.max(
        overTime, recomputed(stages, inFlight[stages.rank()], inFlight[other], holders * free));
  }

  /** The same where bytes in some unit are too many for the room. */
  private double recomputed(Stages stages, double ofFirst, double ofSecond, double room) {
    double fixed = ofFirst * inputs[stages.from()] + ofSecond * inputs[stages.second()];
    double first = ofFirst * (kept[stages.first()] - kept[stages.from()]);
    double second = ofSecond * (kept[stages.to()] - kept[stages.second()]);
    double lacking = fixed + first + second - room * ROUNDING;
    if (lacking <= 0) {
      return 0;
    }
    if (recomputation == Recomputation.NEVER || lacking > first + second) {
      return Double.POSITIVE_INFINITY;
    }
    double more = Math.max(ofFirst, ofSecond);
    double ofMore = ofFirst >= ofSecond ? first : second;
    double less = Math.min(ofFirst, ofSecond);
    double saved = Math.min(lacking, ofMore) / more;
    return (saved + (lacking > ofMore ? (lacking - ofMore) / less : 0)) / freed;
  }
}
