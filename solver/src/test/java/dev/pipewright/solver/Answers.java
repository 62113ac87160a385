package dev.pipewright.solver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What tests expect of an answer. */
final class Answers {
  private Answers() {}

  static <T> SolverAnswer.Found<T> found(SolverAnswer<T> answer) {
    if (answer instanceof SolverAnswer.Found<T> found) {
      return found;
    }
    throw new AssertionError(answer);
  }

  static <T> SolverAnswer.Found<T> optimal(SolverAnswer<T> answer) {
    SolverAnswer.Found<T> found = found(answer);
    assertTrue(found.optimal(), found::toString);
    assertEquals(found.value(), found.bound());
    return found;
  }
}
