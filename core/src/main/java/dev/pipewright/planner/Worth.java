package dev.pipewright.planner;

import dev.pipewright.cost.PeakMemory;
import dev.pipewright.cost.StageCost;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.schedule.Placement;

/**
 * How long a step may take to be of use.
 *
 * @param seconds of a step
 * @param more micro-batches that it has beyond those of the plans that are priced
 */
record Worth(double seconds, int more) {
  static final Worth ANY = new Worth(Double.POSITIVE_INFINITY, 0);

  /** Whether a plan takes longer once it recomputes as much as memory lacks. */
  boolean excludes(PricedCuts kept) {
    if (seconds == Double.POSITIVE_INFINITY) {
      return false;
    }
    PipelinePlan plan = kept.plan();
    double[] work = RankWork.seconds(plan, kept.estimate().stages());
    double[] again = again(kept);
    int microBatches = plan.microBatches();
    double longest = 0;
    double keeping = 0;
    for (int rank = 0; rank < work.length; rank++) {
      keeping = Math.max(keeping, work[rank]);
      longest = Math.max(longest, work[rank] + again[rank]);
    }
    double all = (double) (microBatches + more) / microBatches;
    double step = kept.estimate().stepSeconds() + (all - 1) * keeping;
    return Math.max(step, all * longest) > seconds;
  }

  /**
   * Seconds in which ranks recompute, about: of their forward passes the part that memory lacks of
   * activations.
   */
  private static double[] again(PricedCuts kept) {
    Placement placement = kept.plan().placement();
    double[] again = new double[placement.ranks()];
    double each = (double) kept.plan().microBatches() / placement.chains();
    for (int stage = 0; stage < placement.stages(); stage++) {
      int of = stage % placement.depth();
      PeakMemory peak = kept.peak(of);
      StageCost cost = kept.estimate().stages().get(of);
      double lacks = Math.max(0, peak.peakBytes() - peak.capacity().value());
      double share = Math.min(1, lacks / peak.activationBytes());
      again[placement.rankOf(stage)] += lacks == 0 ? 0 : each * share * cost.forwardSeconds();
    }
    return again;
  }
}
