package dev.pipewright.app.report;

import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.timed.OpTimes;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.StaticSimulator;

/** Schedules that ran, to draw. */
final class ScheduleRuns {
  private ScheduleRuns() {}

  static ScheduleRun of(Schedule schedule, int chunks, OpTimes times) {
    Run run = StaticSimulator.run(schedule, times);
    double[][] starts = new double[schedule.ranks()][];
    double[][] ends = new double[schedule.ranks()][];
    for (int rank = 0; rank < starts.length; rank++) {
      int ops = schedule.packed(rank).length;
      starts[rank] = new double[ops];
      ends[rank] = new double[ops];
      for (int i = 0; i < ops; i++) {
        starts[rank][i] = run.start(rank, i);
        ends[rank][i] = run.end(rank, i);
      }
    }
    return new ScheduleRun(
        schedule.name(),
        schedule.microBatches() * schedule.placement().chains(),
        "F 1, B 1, W 1",
        chunks,
        schedule,
        starts,
        ends,
        run.makespan(),
        run.idleShare(),
        run.spanIdleShare(),
        run.peakActivations(),
        Double.POSITIVE_INFINITY);
  }

  /** Every pass and gradient of a chunk takes one. */
  static ScheduleRun of(Schedule schedule, int chunks) {
    return of(schedule, chunks, OpTimes.equal(schedule.stages(), 1, 1, 1, 0));
  }
}
