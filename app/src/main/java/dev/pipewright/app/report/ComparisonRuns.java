package dev.pipewright.app.report;

import dev.pipewright.execution.Comparison;
import dev.pipewright.schedule.MemoryCap;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.sim.Run;
import java.util.List;

/** The three runs of a comparison as schedules that are drawn below each other. */
public final class ComparisonRuns {
  private ComparisonRuns() {}

  /**
   * Predicted, simulated and measured.
   *
   * @param times of ops, in words
   */
  public static List<ScheduleRun> of(String times, Comparison comparison) {
    return List.of(
        shown("predicted", times, comparison.predicted()),
        shown("simulated", times, comparison.simulated()),
        shown("measured", times, comparison.measured()));
  }

  private static ScheduleRun shown(String name, String times, Run run) {
    Schedule schedule = run.schedule();
    Placement placement = schedule.placement();
    return ScheduleRun.of(
        name,
        schedule.microBatches() * placement.chains(),
        times,
        Math.max(1, placement.depth() / schedule.ranks()),
        run,
        MemoryCap.NONE);
  }
}
