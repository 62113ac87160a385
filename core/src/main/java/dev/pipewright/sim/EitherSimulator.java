package dev.pipewright.sim;

import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.search.OpTimes;

/** The quicker simulator of those that can run a schedule under given conditions. */
public final class EitherSimulator {
  private EitherSimulator() {}

  /** Runs a schedule that {@code Validator} finds no fault with. */
  public static Run run(Schedule schedule, OpTimes times, Conditions conditions) {
    return conditions.fixed()
        ? StaticSimulator.run(schedule, times, conditions)
        : EventSimulator.run(schedule, times, conditions);
  }
}
