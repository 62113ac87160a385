package dev.pipewright.runtime.profiler;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class WholeStepTest {
  private static WholeStep of(String stolen) {
    return WholeStep.parse(text(0, stolen), text(8, "[0, 0, 0, 0, 0, 0]"), 1, 3);
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
  void countsAllStepsBehindTheFirstWhereNothingWasStolen() {
    WholeStep step = of("[5, 0, 0, 0, 0, 0]");
    assertEquals(3, step.seconds().median());
    assertEquals(50, step.seconds().most());
    assertEquals(0.15, step.ops().forward()); // of each of two micro-batches
    assertEquals(0.35, step.ops().backward());
    assertEquals(0.35, step.ops().inputGradient());
    assertEquals(4, step.ops().weightGradient());
    assertEquals(3, step.ops().update());
    assertEquals(3 - 3 * 0.5 - 3, step.ops().rest(), 1e-12);
    assertEquals(7, step.peakBytes());
  }

  @Test
  void countsThoseThatLostLeast() {
    WholeStep step = of("[0, 4, 4, 0, 1, 1]"); // the last three
    assertEquals(4, step.seconds().median());
    assertEquals(0.2, step.ops().forward());
    assertEquals(0.4, step.ops().backward());
    assertEquals(0.35, step.ops().inputGradient()); // nothing was stolen from these
    assertEquals(4, step.ops().update());
  }
}
