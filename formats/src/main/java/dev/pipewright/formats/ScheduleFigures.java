package dev.pipewright.formats;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;

/**
 * The figures of a run, from its ops as they were recorded: what {@link dev.pipewright.sim.Run}
 * says of one that was simulated, counted anew.
 *
 * @param peaks by rank, in micro-batch activations of one stage
 */
record ScheduleFigures(double makespan, double idleShare, double spanIdleShare, double[] peaks) {
  /**
   * Of a schedule with the times of its ops.
   *
   * @param chunks of which one stage consists
   */
  static ScheduleFigures of(Schedule schedule, ScheduleFile.Times times, int chunks) {
    double makespan = 0;
    double sum = 0;
    double busiest = 0;
    double longest = 0;
    double[] peaks = new double[schedule.ranks()];
    for (int rank = 0; rank < peaks.length; rank++) {
      double[] starts = times.starts()[rank];
      double[] ends = times.ends()[rank];
      for (double end : ends) {
        makespan = Math.max(makespan, end);
      }
      double busy = busy(schedule.packed(rank), starts, ends);
      sum += busy;
      busiest = Math.max(busiest, busy);
      longest = Math.max(longest, ends.length == 0 ? 0 : ends[ends.length - 1] - starts[0]);
      peaks[rank] = (double) peak(schedule.packed(rank)) / chunks;
    }
    double idle = makespan == 0 ? 0 : 1 - sum / peaks.length / makespan;
    return new ScheduleFigures(makespan, idle, longest == 0 ? 0 : 1 - busiest / longest, peaks);
  }

  /** Seconds that a rank computes; ops that run together count once, exchanges do not. */
  private static double busy(long[] program, double[] starts, double[] ends) {
    double busy = 0;
    for (int i = 0; i < program.length; i++) {
      boolean again = i > 0 && Schedule.isJoined(program[i - 1]);
      busy += again || Schedule.pass(program[i]).exchanges() ? 0 : ends[i] - starts[i];
    }
    return busy;
  }

  /** The most activations at once, of a part of a stage. */
  private static int peak(long[] program) {
    int held = 0;
    int peak = 0;
    for (long op : program) {
      held += Schedule.pass(op) == Pass.FORWARD ? 1 : 0;
      peak = Math.max(peak, held);
      held -= Schedule.pass(op).releases() ? 1 : 0;
    }
    return peak;
  }
}
