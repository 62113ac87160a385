package dev.pipewright.sim;

import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.StageCost;
import dev.pipewright.plan.Plan;
import dev.pipewright.schedule.StepEnd;
import dev.pipewright.schedule.timed.OpTimes;
import dev.pipewright.schedule.timed.StepTimes;
import dev.pipewright.sim.Conditions.Transfers;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** Answers with the simulated step time of a plan whose stages another oracle prices. */
public final class SimulatedOracle implements Oracle {
  private final Oracle prices;

  public SimulatedOracle(Oracle prices) {
    this.prices = prices;
  }

  @Override
  public Assessment assess(Plan plan) {
    Assessment priced = prices.assess(plan);
    return new Assessment("simulated", run(plan, priced).makespan(), priced.stages());
  }

  /**
   * One step of {@code plan} with the stage times of {@code priced}: messages of a cut and
   * direction go one after the other; the all-reduce and the update of a stage follow its last
   * backward pass.
   */
  public static Run run(Plan plan, Assessment priced) {
    return StaticSimulator.run(
        StepEnd.of(plan.schedule()), times(priced.stages()), Conditions.of(Transfers.QUEUED));
  }

  private static OpTimes times(List<StageCost> stages) {
    double[] none = new double[stages.size()];
    return OpTimes.whole(
            each(stages, StageCost::forwardSeconds),
            each(stages, StageCost::backwardSeconds),
            each(stages, StageCost::sendSeconds),
            each(stages, StageCost::returnSeconds))
        .withStep(
            new StepTimes(
                none,
                each(stages, StageCost::exposedAllReduceSeconds),
                none,
                each(stages, StageCost::updateSeconds)));
  }

  private static double[] each(List<StageCost> stages, ToDoubleFunction<StageCost> seconds) {
    return stages.stream().mapToDouble(seconds).toArray();
  }
}
