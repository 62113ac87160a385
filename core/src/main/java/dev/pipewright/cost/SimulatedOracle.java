package dev.pipewright.cost;

import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.schedule.StepEnd;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.Conditions;
import dev.pipewright.sim.Conditions.Transfers;
import dev.pipewright.sim.EitherSimulator;
import dev.pipewright.sim.Jitter;
import dev.pipewright.sim.MonteCarlo;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.StaticSimulator;

/** Answers with the simulated step time of a plan whose stages another oracle prices. */
public final class SimulatedOracle implements Oracle {
  /** Messages of a cut and direction go one after the other. */
  public static final Conditions USUAL = Conditions.of(Transfers.QUEUED);

  private final Oracle prices;
  private final Conditions conditions;
  private final double[] slowness; // by rank; none for all alike

  public SimulatedOracle(Oracle prices) {
    this(prices, USUAL);
  }

  /**
   * Under other conditions.
   *
   * @param slowness how many times as long the devices of each rank take for what they compute;
   *     none where all take their time
   */
  public SimulatedOracle(Oracle prices, Conditions conditions, double... slowness) {
    this.prices = prices;
    this.conditions = conditions;
    this.slowness = slowness;
  }

  @Override
  public Assessment assess(PipelinePlan plan) {
    Assessment priced = prices.assess(plan);
    double step = simulate(plan, priced).makespan();
    return new Assessment("simulated", step, priced.stages(), priced.memory());
  }

  /** One step of {@code plan} with the stage times of {@code priced}, as this oracle sees it. */
  public Run simulate(PipelinePlan plan, Assessment priced) {
    return EitherSimulator.run(StepEnd.of(plan.schedule()), times(plan, priced), conditions);
  }

  /** Many such steps with durations that differ. */
  public MonteCarlo simulate(PipelinePlan plan, Assessment priced, Jitter jitter, int runs) {
    OpTimes times = times(plan, priced);
    return MonteCarlo.of(StepEnd.of(plan.schedule()), times, conditions, jitter, runs);
  }

  private OpTimes times(PipelinePlan plan, Assessment priced) {
    OpTimes times = StepTimes.of(plan, priced.stages());
    return slowness.length == 0 ? times : times.on(plan.placement(), slowness);
  }

  /**
   * One step of {@code plan} with the stage times of {@code priced}: messages of a cut and
   * direction go one after the other; the all-reduce and the update of a stage follow its last
   * backward pass.
   */
  public static Run run(PipelinePlan plan, Assessment priced) {
    return StaticSimulator.run(
        StepEnd.of(plan.schedule()), StepTimes.of(plan, priced.stages()), USUAL);
  }
}
