package dev.pipewright.solver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What tests expect of an answer. */
final class Answers {
  private Answers() {}

  static <T> Answer.Found<T> found(Answer<T> answer) {
    if (answer instanceof Answer.Found<T> found) {
      return found;
    }
    throw new AssertionError(answer);
  }

  static <T> Answer.Found<T> optimal(Answer<T> answer) {
    Answer.Found<T> found = found(answer);
    assertTrue(found.optimal(), found::toString);
    assertEquals(found.value(), found.bound());
    return found;
  }
}
