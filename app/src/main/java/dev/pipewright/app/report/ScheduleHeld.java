package dev.pipewright.app.report;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;
import java.util.Arrays;

/**
 * The activations that a rank holds over time, in those of a chunk and micro-batch: one more when a
 * forward pass starts, one less when they are free. Ops that run together count one behind the
 * other, in the order in which the peaks are counted.
 *
 * @param seconds when the number changes, in order
 * @param counts from then on
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record ScheduleHeld(double[] seconds, int[] counts) {

  static ScheduleHeld of(ScheduleRun run, int rank) {
    long[] program = run.program(rank);
    double[] seconds = new double[program.length + 1];
    int[] counts = new int[program.length + 1];
    int size = 0;
    if (run.before(rank) > 0) {
      counts[size++] = run.before(rank);
    }
    for (int i = 0; i < program.length; i++) {
      Pass pass = Schedule.pass(program[i]);
      if (pass == Pass.FORWARD || pass.releases()) {
        double at = pass == Pass.FORWARD ? run.start(rank, i) : run.end(rank, i);
        seconds[size] = size == 0 ? at : Math.max(at, seconds[size - 1]);
        counts[size] = (size == 0 ? 0 : counts[size - 1]) + (pass == Pass.FORWARD ? 1 : -1);
        size++;
      }
    }
    return new ScheduleHeld(Arrays.copyOf(seconds, size), Arrays.copyOf(counts, size));
  }
}
