package dev.pipewright.sim.repeated;

import dev.pipewright.units.Check;
import java.util.List;

/**
 * What a rank does once a round. With k batches a round, it works in round {@code j} on batch
 * {@code j · k + shift}; batches are counted from 0, and before them it does nothing.
 *
 * @param seconds that it takes
 * @param notBefore seconds from the start of a round before which it does not start, for what
 *     follows a timetable; 0 and a period of 0 for what starts as soon as it can
 * @param after places of the tasks that must have ended for the same batch
 */
public record Task(int rank, double seconds, int shift, double notBefore, List<Integer> after) {
  public Task {
    Check.amount(seconds, "seconds");
    Check.amount(notBefore, "a start");
    after = List.copyOf(after);
  }
}
