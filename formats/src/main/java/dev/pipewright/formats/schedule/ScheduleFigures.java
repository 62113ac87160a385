package dev.pipewright.formats.schedule;

import dev.pipewright.schedule.Schedule;
import dev.pipewright.sim.Run;
import java.util.Arrays;

/**
 * The figures of a run, from its ops as they were recorded.
 *
 * @param peaks by rank, in micro-batch activations of one stage
 */
record ScheduleFigures(double makespan, double idleShare, double spanIdleShare, double[] peaks) {
  /**
   * The figures of a schedule with the times of its ops.
   *
   * @param chunks of which one stage consists
   */
  static ScheduleFigures of(Schedule schedule, ScheduleFile.Times times, int chunks) {
    Run run = Run.recorded(schedule, times.starts(), times.ends());
    double[] peaks =
        Arrays.stream(run.peakActivations()).mapToDouble(peak -> (double) peak / chunks).toArray();
    return new ScheduleFigures(run.makespan(), run.idleShare(), run.spanIdleShare(), peaks);
  }
}
