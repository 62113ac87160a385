package dev.pipewright.schedule.periodic;

import dev.pipewright.schedule.Schedule;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.List;

/**
 * A pattern's first batches as a schedule: period after period, less the ops of batches before the
 * first (the warm-up) and behind the last (the drain). Orders only: a run may be faster than the
 * pattern, where that leaves time, and never needs more memory. O(ops).
 */
public final class Unrolled {
  private Unrolled() {}

  /**
   * The schedule.
   *
   * @param pattern that {@link PatternCheck} finds no fault with
   */
  public static Schedule of(String name, Pattern pattern, int batches) {
    Check.that(batches >= 1, "a schedule has batches: batches=%d", batches);
    long[][] programs = new long[pattern.placement().ranks()][];
    for (int rank = 0; rank < programs.length; rank++) {
      programs[rank] = program(pattern, rank, batches, 1);
    }
    return new Schedule(name, pattern.placement(), batches, programs);
  }

  /**
   * One rank's program.
   *
   * @param every how many stages of the pattern count as one in the program
   */
  static long[] program(Pattern pattern, int rank, int batches, int every) {
    List<RepeatedOp> own = new ArrayList<>();
    for (RepeatedOp op : pattern.ops()) {
      if (pattern.placement().rankOf(op.stage()) == rank) {
        own.add(op);
      }
    }
    long[] packed = new long[own.size()]; // with batch 0
    int[] shifts = new int[own.size()];
    int lowest = Integer.MAX_VALUE;
    int highest = Integer.MIN_VALUE;
    for (int i = 0; i < packed.length; i++) {
      RepeatedOp op = own.get(i);
      packed[i] = Schedule.pack(op.pass(), op.stage() / every, 0);
      shifts[i] = op.shift();
      lowest = Math.min(lowest, shifts[i]);
      highest = Math.max(highest, shifts[i]);
    }
    int first = Math.floorDiv(-highest, pattern.batches());
    int last = Math.floorDiv(batches - 1 - lowest, pattern.batches());
    long[] program = new long[Math.multiplyExact(packed.length / pattern.batches(), batches)];
    int size = 0;
    for (int turn = first; turn <= last; turn++) {
      for (int i = 0; i < packed.length; i++) {
        int batch = turn * pattern.batches() + shifts[i];
        if (0 <= batch && batch < batches) {
          program[size++] = packed[i] | batch;
        }
      }
    }
    return program;
  }
}
