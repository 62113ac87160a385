package dev.pipewright.api;

import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.SimulatedOracle;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.catalog.ScheduleCatalog;
import dev.pipewright.schedule.catalog.ScheduleEntry;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.Conditions;
import dev.pipewright.sim.EitherSimulator;
import dev.pipewright.units.Check;
import java.util.Arrays;

/** Runs schedules and plans on simulated devices and links. */
public final class Simulator {
  private Simulator() {}

  /**
   * Runs a schedule whose transfers delay nothing but their receivers. Throws {@link
   * IllegalArgumentException} where its ranks wait for each other for ever.
   *
   * @param slowness how many times as long each rank takes for what it computes; none where all
   *     take what {@code times} says
   */
  public static SimulatedSchedule run(Schedule schedule, PassTimes times, double... slowness) {
    Placement placement = schedule.placement();
    int chunks =
        ScheduleCatalog.find(schedule.name())
            .filter(ScheduleEntry::fixedChunks)
            .map(ScheduleEntry::chunks)
            .orElse(Math.max(1, placement.depth() / placement.ranks()));
    OpTimes all = times.opTimes(placement, chunks).on(placement, each(slowness, schedule.ranks()));
    return new SimulatedSchedule(EitherSimulator.run(schedule, all, Conditions.PLAIN), chunks);
  }

  /**
   * Runs a step of a plan, with the stage times of the problem's cost model. Throws {@link
   * IllegalArgumentException} where the plan is not for the problem.
   *
   * @param slowness how many times as long the devices of each rank take for what they compute;
   *     none where all take their usual time
   */
  public static SimulatedStep run(Problem problem, PipelinePlan plan, double... slowness) {
    Assessment prices = Oracles.predict(problem, plan);
    double[] each = each(slowness, plan.placement().ranks());
    SimulatedOracle oracle = new SimulatedOracle(ignored -> prices, SimulatedOracle.USUAL, each);
    return SimulatedStep.of(plan, prices, oracle.simulate(plan, prices));
  }

  private static double[] each(double[] slowness, int ranks) {
    double[] each = new double[ranks];
    Arrays.fill(each, 1);
    Check.that(
        slowness.length == 0 || slowness.length == ranks,
        "one factor per rank: factors=%d, ranks=%d",
        slowness.length,
        ranks);
    System.arraycopy(slowness, 0, each, 0, slowness.length);
    for (double factor : each) {
      Check.that(
          factor > 0 && factor <= 1e6, "a factor is above 0, up to a million: factor=%s", factor);
    }
    return each;
  }
}
