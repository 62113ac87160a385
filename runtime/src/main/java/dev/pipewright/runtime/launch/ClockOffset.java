package dev.pipewright.runtime.launch;

import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;

/**
 * How far the clock of another machine is ahead of ours, from questions and answers: the answer was
 * written about in the middle of its round trip, so the shortest one knows best. Only recent ones
 * count, since clocks drift.
 *
 * <p>F. Cristian, <i>Probabilistic clock synchronization</i>, Distributed Computing 3 (1989).
 */
final class ClockOffset {
  private static final int RECENT = 32;

  private record Answer(long roundTrip, long ahead) {}

  private final Deque<Answer> answers = new ArrayDeque<>();

  /** An answer of {@code there} to a question sent at {@code sent}, back at {@code received}. */
  synchronized void heard(long sent, long there, long received) {
    long roundTrip = received - sent;
    answers.addLast(new Answer(roundTrip, there - sent - roundTrip / 2));
    if (answers.size() > RECENT) {
      answers.removeFirst();
    }
  }

  /**
   * Nanoseconds; 0 before the first answer, and for workers on this machine, which are not asked.
   */
  synchronized long ahead() {
    return answers.stream()
        .min(Comparator.comparingLong(Answer::roundTrip))
        .map(Answer::ahead)
        .orElse(0L);
  }
}
