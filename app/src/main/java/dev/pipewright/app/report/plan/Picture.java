package dev.pipewright.app.report.plan;

import dev.pipewright.cost.TrainingFigures;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.reasons.Reasons;
import dev.pipewright.trace.Timeline;
import java.util.Optional;

/**
 * Everything that a report shows.
 *
 * @param title the heading: {@code vgg-19 on dapple-a}
 * @param planning what the planner found
 * @param timeline the best plan's step; empty when nothing fits or it was not simulated
 * @param planningSeconds how long the planner took
 * @param provenance where times and sizes come from, in one line
 * @param training what the best plan trains with and how fast; empty when nothing fits
 * @param reasons why the plan is the best
 */
public record Picture(
    String title,
    Planning planning,
    Optional<Timeline> timeline,
    double planningSeconds,
    String provenance,
    Optional<TrainingFigures> training,
    Reasons reasons) {

  /**
   * Share of all device time of the step in which no forward or backward pass runs; NaN if unknown.
   */
  double idleShare() {
    return timeline.map(step -> step.idleShare()).orElse(Double.NaN);
  }
}
