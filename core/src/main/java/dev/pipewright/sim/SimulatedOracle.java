package dev.pipewright.sim;

import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.StageCost;
import dev.pipewright.plan.Plan;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.StepEnd;
import dev.pipewright.schedule.search.OncePerStepTimes;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.Conditions.Transfers;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** Answers with the simulated step time of a plan whose stages another oracle prices. */
public final class SimulatedOracle implements Oracle {
  /** Messages of a cut and direction go one after the other. */
  public static final Conditions USUAL = Conditions.of(Transfers.QUEUED);

  private final Oracle prices;
  private final Conditions conditions;
  private final double[] slowness; // by stage; none for all alike

  public SimulatedOracle(Oracle prices) {
    this(prices, USUAL);
  }

  /**
   * Under other conditions.
   *
   * @param slowness how many times as long each stage's devices take for what they compute; none
   *     where all take their time
   */
  public SimulatedOracle(Oracle prices, Conditions conditions, double... slowness) {
    this.prices = prices;
    this.conditions = conditions;
    this.slowness = slowness;
  }

  @Override
  public Assessment assess(Plan plan) {
    Assessment priced = prices.assess(plan);
    return new Assessment("simulated", simulate(plan, priced).makespan(), priced.stages());
  }

  /** One step of {@code plan} with the stage times of {@code priced}, as this oracle sees it. */
  public Run simulate(Plan plan, Assessment priced) {
    return Simulator.run(StepEnd.of(plan.schedule()), times(plan, priced), conditions);
  }

  /** Many such steps with durations that differ. */
  public MonteCarlo simulate(Plan plan, Assessment priced, Jitter jitter, int runs) {
    OpTimes times = times(plan, priced);
    return MonteCarlo.of(StepEnd.of(plan.schedule()), times, conditions, jitter, runs);
  }

  private OpTimes times(Plan plan, Assessment priced) {
    OpTimes times = times(priced.stages(), plan.microBatches());
    return slowness.length == 0
        ? times
        : times.on(Placement.straight(plan.stages().size()), slowness);
  }

  /**
   * One step of {@code plan} with the stage times of {@code priced}: messages of a cut and
   * direction go one after the other; the all-reduce and the update of a stage follow its last
   * backward pass.
   */
  public static Run run(Plan plan, Assessment priced) {
    return StaticSimulator.run(
        StepEnd.of(plan.schedule()), times(priced.stages(), plan.microBatches()), USUAL);
  }

  private static OpTimes times(List<StageCost> stages, int microBatches) {
    double[] none = new double[stages.size()];
    double[] saved = each(stages, StageCost::savedSeconds);
    OpTimes times =
        new OpTimes(
            each(stages, StageCost::forwardSeconds),
            each(stages, stage -> stage.backwardSeconds() - stage.savedSeconds()),
            none,
            saved,
            each(stages, StageCost::sendSeconds),
            each(stages, StageCost::returnSeconds),
            new OncePerStepTimes(
                none,
                each(stages, StageCost::exposedAllReduceSeconds),
                none,
                each(stages, StageCost::updateSeconds)),
            false);
    return Arrays.stream(saved).allMatch(each -> each == 0)
        ? times
        : times.withRecomputed(
            (stage, microBatch) -> saved[stage] > 0 && microBatch < microBatches - 1);
  }

  private static double[] each(List<StageCost> stages, ToDoubleFunction<StageCost> seconds) {
    return stages.stream().mapToDouble(seconds).toArray();
  }
}
