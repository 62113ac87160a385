package dev.pipewright.planner;

import dev.pipewright.cost.StageCost;
import java.util.Comparator;

/**
 * A pipeline with a schedule.
 *
 * @param cuts for fewer micro-batches
 */
record PricedPipeline(PipelineDraft draft, ScheduledCuts cuts) {
  private static final double LEAST_BUBBLE = 0.125;

  /** Those that fit first. */
  static final Comparator<PricedPipeline> FASTEST =
      Comparator.comparing((PricedPipeline each) -> !each.fits())
          .thenComparingDouble(PricedPipeline::seconds);

  boolean fits() {
    return cuts.fits();
  }

  /** Of a step of all micro-batches: the busiest rank works in the middle of it, too. */
  double seconds() {
    return seconds(cuts, draft.batching().microBatches() - draft.few().microBatches());
  }

  /**
   * The same.
   *
   * @param more micro-batches than the cuts were priced for
   */
  static double seconds(ScheduledCuts cuts, int more) {
    return cuts.seconds() + more * RankWork.mostSeconds(cuts.plan(), cuts.estimate().stages());
  }

  private double mostSeconds() {
    return RankWork.mostSeconds(cuts.plan(), cuts.estimate().stages());
  }

  /** The work of the busiest rank, and a bubble as small as {@value #LEAST_BUBBLE} of 1F1B's. */
  double work() {
    return draft.batching().microBatches() * mostSeconds() + LEAST_BUBBLE * draft.bubble();
  }

  /** Without the bubble of 1F1B and the sums of gradients. */
  double unfilled() {
    double sums =
        cuts.estimate().stages().stream()
            .mapToDouble(StageCost::exposedAllReduceSeconds)
            .max()
            .orElseThrow();
    return seconds() - draft.bubble() - sums;
  }
}
