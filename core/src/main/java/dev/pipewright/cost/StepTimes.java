package dev.pipewright.cost;

import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.search.OncePerStepTimes;
import dev.pipewright.schedule.search.OpTimes;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** What the ops of a plan's step take at the prices of its stages. */
public final class StepTimes {
  private final Placement placement;
  private final List<StageCost> stages;

  private StepTimes(Placement placement, List<StageCost> stages) {
    this.placement = placement;
    this.stages = stages;
  }

  /** By stage of all directions, which take the same. */
  public static OpTimes of(PipelinePlan plan, List<StageCost> stages) {
    StepTimes step = new StepTimes(plan.placement(), stages);
    double[] none = new double[plan.placement().stages()];
    double[] saved = step.each(StageCost::savedSeconds);
    double[] weight = step.each(StageCost::weightSeconds);
    OpTimes times =
        new OpTimes(
            step.each(StageCost::forwardSeconds),
            step.each(
                stage -> stage.backwardSeconds() - stage.savedSeconds() - stage.weightSeconds()),
            weight,
            saved,
            step.each(StageCost::sendSeconds),
            step.each(StageCost::returnSeconds),
            new OncePerStepTimes(
                none,
                step.each(StageCost::exposedAllReduceSeconds),
                none,
                step.each(StageCost::updateSeconds)),
            false);
    if (stages.stream().allMatch(stage -> stage.savedSeconds() == 0)) {
      return times;
    }
    int last = plan.microBatches() / plan.placement().chains() - 1;
    return times.withRecomputed((stage, microBatch) -> saved[stage] > 0 && microBatch < last);
  }

  private double[] each(ToDoubleFunction<StageCost> seconds) {
    double[] all = new double[placement.stages()];
    for (int stage = 0; stage < all.length; stage++) {
      all[stage] = seconds.applyAsDouble(stages.get(stage % placement.depth()));
    }
    return all;
  }
}
