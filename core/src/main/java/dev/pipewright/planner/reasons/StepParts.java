package dev.pipewright.planner.reasons;

import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.StageCost;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.RankWork;
import dev.pipewright.schedule.Placement;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * The seconds of a step by what the rank that computes longest does in them. They add up to the
 * step: waiting is what is left.
 */
public record StepParts(Map<StepPart, Double> seconds) {
  private static final double ROUNDING = 1e-12;

  public StepParts {
    seconds = Map.copyOf(seconds);
  }

  /**
   * Of a candidate.
   *
   * @param estimates prices the plan without recomputation, whether that fits or not
   */
  static StepParts of(Candidate candidate, Oracle estimates) {
    PipelinePlan plan = candidate.plan();
    Assessment assessment = candidate.estimate();
    double[] work = RankWork.seconds(plan, assessment.stages());
    int busiest = RankWork.busiest(work);
    double once = work[busiest];
    if (plan.stages().stream().anyMatch(stage -> stage.recompute() != Recompute.NONE)) {
      PipelinePlan kept = keeping(plan);
      once = Math.min(once, RankWork.seconds(kept, estimates.assess(kept).stages())[busiest]);
    }
    Map<StepPart, Double> seconds = new EnumMap<>(StepPart.class);
    seconds.put(StepPart.COMPUTE, once);
    seconds.put(StepPart.RECOMPUTATION, work[busiest] - once);
    double gradients = 0;
    double update = 0;
    Placement placement = plan.placement();
    for (int stage = 0; stage < placement.depth(); stage++) {
      if (placement.rankOf(stage) == busiest) {
        StageCost cost = assessment.stages().get(stage);
        gradients += cost.exposedAllReduceSeconds();
        update += cost.updateSeconds();
      }
    }
    double left = Math.max(0, candidate.seconds() - work[busiest] - update);
    gradients = Math.min(gradients, left); // a rank sums those of one stage while it runs another
    seconds.put(StepPart.GRADIENTS, gradients);
    seconds.put(StepPart.UPDATE, update);
    double waiting = left - gradients;
    seconds.put(StepPart.WAITING, waiting > ROUNDING * candidate.seconds() ? waiting : 0);
    return new StepParts(seconds);
  }

  private static PipelinePlan keeping(PipelinePlan plan) {
    List<StagePlan> stages =
        plan.stages().stream().map(stage -> stage.with(Recompute.NONE)).toList();
    return plan.with(stages);
  }

  /** Of one part. */
  public double of(StepPart part) {
    return seconds.getOrDefault(part, 0.0);
  }
}
