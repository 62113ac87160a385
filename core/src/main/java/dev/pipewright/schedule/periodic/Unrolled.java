package dev.pipewright.schedule.periodic;

import dev.pipewright.schedule.Program;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.units.Check;
import java.util.Arrays;

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
    int lowest = pattern.ops().stream().mapToInt(RepeatedOp::shift).min().orElse(0);
    int highest = pattern.ops().stream().mapToInt(RepeatedOp::shift).max().orElse(0);
    Program[] programs = new Program[pattern.placement().ranks()];
    Arrays.setAll(programs, rank -> new Program());
    int first = Math.floorDiv(-highest, pattern.batches());
    int last = Math.floorDiv(batches - 1 - lowest, pattern.batches());
    for (int turn = first; turn <= last; turn++) {
      for (RepeatedOp op : pattern.ops()) {
        int batch = turn * pattern.batches() + op.shift();
        if (0 <= batch && batch < batches) {
          programs[pattern.placement().rankOf(op.stage())].add(op.pass(), op.stage(), batch);
        }
      }
    }
    long[][] packed = new long[programs.length][];
    Arrays.setAll(packed, rank -> programs[rank].packed());
    return new Schedule(name, pattern.placement(), batches, packed);
  }
}
