package dev.pipewright.runtime.profiler;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

class WholeStepTest {
  private static WholeStep of(String stolen) {
    return of(List.of(text(0, stolen)));
  }

  private static WholeStep of(List<String> texts) {
    return WholeStep.parse(texts, List.of(text(8, "[0, 0, 0, 0, 0, 0]")), 1, 3);
  }

  private static String text(int weight, String stolen) {
    return """
    {
      "seconds": [9, 1, 2, 3, 4, 50],
      "stolen": %2$s,
      "ops": [
        [9, 9, %1$d, 9],
        [0.1, 0.5, %1$d, 1],
        [0.2, 0.6, %1$d, 2],
        [0.3, 0.7, %1$d, 3],
        [0.4, 0.8, %1$d, 4],
        [5, 50, %1$d, 500]
      ],
      "peak": 7
    }
    """
        .formatted(weight, stolen);
  }

  @Test
  void countsTheShorterHalfBehindTheFirstWhereNothingWasStolen() {
    WholeStep step = of("[5, 0, 0, 0, 0, 0]");
    assertEquals(3, step.seconds().median());
    assertEquals(50, step.seconds().most());
    assertEquals(0.1, step.ops().forward()); // of each of two micro-batches
    assertEquals(0.3, step.ops().backward());
    assertEquals(0.3, step.ops().inputGradient());
    assertEquals(4, step.ops().weightGradient());
    assertEquals(2, step.ops().update());
    assertEquals(2 - 3 * 0.4 - 2, step.ops().rest(), 1e-12);
    assertEquals(7, step.peakBytes());
  }

  @Test
  void countsThoseThatLostLeast() {
    WholeStep step = of("[0, 4, 4, 0, 1, 1]"); // the last three
    assertEquals(4, step.seconds().median());
    assertEquals(0.2, step.ops().forward());
    assertEquals(0.4, step.ops().backward());
    assertEquals(0.3, step.ops().inputGradient()); // nothing was stolen from these
    assertEquals(4, step.ops().update());
  }

  /**
   * Twice as many steps, of which the first of each task is left out: the shorter half is 1 1 2 2
   * 3.
   */
  @Test
  void countsStepsOfSeveralTasksTogether() {
    String text = text(0, "[0, 0, 0, 0, 0, 0]");
    WholeStep step =
        of(List.of(text, text.replace("50]", "60]").replace("\"peak\": 7", "\"peak\": 9")));
    assertEquals(60, step.seconds().most());
    assertEquals(2, step.ops().update());
    assertEquals(9, step.peakBytes());
  }
}
