package dev.pipewright.sim;

import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.check.Validator;
import java.util.List;

/** The sentence of a simulator that can make no progress. */
final class Deadlock {
  private Deadlock() {}

  /**
   * Throws where a rank has not come to its end, and says who waits for whom.
   *
   * @param next by rank: the position of the op that it has come to
   */
  static void check(Schedule schedule, int[] next) {
    for (int rank = 0; rank < next.length; rank++) {
      if (next[rank] < schedule.packed(rank).length) {
        throw new IllegalArgumentException(words(schedule, rank, next[rank]));
      }
    }
  }

  /**
   * The schedule's own fault; where it has none, ranks that communicate keep each other waiting.
   */
  private static String words(Schedule schedule, int rank, int position) {
    List<Validator.Problem> faults = Validator.check(schedule, 1);
    return faults.isEmpty()
        ? "a rank waits for ever: schedule=%s, rank=%d, op=%d"
            .formatted(schedule.name(), rank, position)
        : faults.get(0).toString();
  }
}
