package dev.pipewright.planner;

import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.PeakMemory;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.schedule.ScheduleSpec;

/**
 * A plan of an equal pipeline with its price.
 *
 * @param firsts of each stage, in positions of the path
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record PricedCuts(ScheduleSpec order, int[] firsts, PipelinePlan plan, Assessment estimate) {
  private static final double LEAST_GAIN = 1 - 1e-9;

  boolean fits() {
    return estimate.fits();
  }

  /** On the fullest device of a stage. */
  PeakMemory peak(int stage) {
    return estimate.memory().get(stage);
  }

  /** Less beyond the memory of the fullest device, or else a shorter step. */
  boolean isBetterThan(PricedCuts other) {
    double beyond = beyond();
    double others = other.beyond();
    return beyond < others * LEAST_GAIN
        || (beyond == others && estimate.stepSeconds() < other.estimate.stepSeconds() * LEAST_GAIN);
  }

  /** What the fullest device lacks, as a share of its memory; 0 where all stages fit. */
  private double beyond() {
    double fullest = estimate.memory().stream().mapToDouble(PeakMemory::share).max().orElse(0);
    return Math.max(0, fullest - 1);
  }
}
