package dev.pipewright.planner;

import dev.pipewright.cost.StageCost;
import java.util.Comparator;
import java.util.List;

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

  /** With a third of what is recomputed under 1F1B: V schedules keep as little as a third. */
  double folded() {
    return draft.rough() + Math.max(0, unfilled() - draft.rough()) / 3;
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

  /** What pipelines have in common that differ in the order of their devices alone. */
  List<Object> withoutOrder() {
    return List.of(draft.grid().with(Arrangement.BY_RANK), draft.batching(), seconds());
  }
}
