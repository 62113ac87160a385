package dev.pipewright.app.cli;

import dev.pipewright.app.report.ScheduleRun;
import dev.pipewright.execution.Comparison;
import dev.pipewright.schedule.MemoryCap;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.sim.Recorder;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.steady.Period;
import java.util.List;
import java.util.Optional;

/** Runs, simulated or recorded, in the form that reports draw. */
final class ShownRuns {
  private ShownRuns() {}

  /** What a simulated or recorded run shows. */
  static ScheduleRun of(
      String name,
      int microBatches,
      String times,
      int chunks,
      Run run,
      MemoryCap memoryCap,
      Optional<Period> period) {
    Schedule schedule = run.schedule();
    double[][] starts = new double[schedule.ranks()][];
    double[][] ends = new double[schedule.ranks()][];
    double[] busy = new double[schedule.ranks()];
    int[] before = new int[schedule.ranks()];
    for (int rank = 0; rank < starts.length; rank++) {
      starts[rank] = new double[schedule.packed(rank).length];
      ends[rank] = new double[starts[rank].length];
      for (int i = 0; i < starts[rank].length; i++) {
        starts[rank][i] = run.start(rank, i);
        ends[rank][i] = run.end(rank, i);
      }
      busy[rank] = run.busy(rank);
      before[rank] = run.heldBefore(rank);
    }
    return new ScheduleRun(
        name,
        microBatches,
        times,
        chunks,
        schedule,
        Recorder.timeline(run, memoryCap, chunks),
        starts,
        ends,
        new ScheduleRun.Figures(
            run.makespan(),
            run.idleShare(),
            run.spanIdleShare(),
            busy,
            before,
            run.peakActivations(),
            period.map(ShownRuns::shown)),
        memoryCap);
  }

  private static ScheduleRun.Period shown(Period period) {
    return new ScheduleRun.Period(period.time(), period.microBatches(), period.idleShare());
  }

  /**
   * The three runs of a comparison: measured, predicted and simulated.
   *
   * @param times of ops, in words
   */
  static List<ScheduleRun> of(String times, Comparison comparison) {
    return List.of(
        of("measured", times, comparison.measured()),
        of("predicted", times, comparison.predicted()),
        of("simulated", times, comparison.simulated()));
  }

  private static ScheduleRun of(String name, String times, Run run) {
    Schedule schedule = run.schedule();
    Placement placement = schedule.placement();
    return of(
        name,
        schedule.microBatches() * placement.chains(),
        times,
        Math.max(1, placement.depth() / schedule.ranks()),
        run,
        MemoryCap.NONE,
        Optional.empty());
  }
}
