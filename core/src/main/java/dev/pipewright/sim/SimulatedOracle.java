package dev.pipewright.sim;

import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.Oracle;
import dev.pipewright.plan.Plan;

/** Answers with the simulated step time of a plan whose stages another oracle prices. */
public final class SimulatedOracle implements Oracle {
  private final Oracle prices;

  public SimulatedOracle(Oracle prices) {
    this.prices = prices;
  }

  @Override
  public Assessment assess(Plan plan) {
    Assessment priced = prices.assess(plan);
    PlanRun run = run(plan, priced);
    return new Assessment("simulated", run.end(), priced.stages());
  }

  /** One step of {@code plan} with the stage times of {@code priced}. */
  public static PlanRun run(Plan plan, Assessment priced) {
    return PlanSimulator.run(plan.schedule(), StageTimes.of(priced.stages()));
  }
}
