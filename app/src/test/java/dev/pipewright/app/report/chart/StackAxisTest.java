package dev.pipewright.app.report.chart;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class StackAxisTest {
  private static final double CAPACITY = 16.0 * (1L << 30);

  @Test
  void fewLongBarsAreCutSoThatTheOthersCanBeRead() {
    StackAxis axis = StackAxis.seconds(List.of(1.0, 1.1, 1.2, 0.9, 1.0, 1.3, 0.8, 500.0));
    assertTrue(axis.cuts(500) && !axis.cuts(1.3));
    assertTrue(axis.share(1.0) > 0.5);
    assertEquals(1, axis.share(500));
    assertFalse(StackAxis.seconds(List.of(1.0, 2.0, 3.0, 4.0)).cuts(4));
  }

  @Test
  void theCapacityIsInSightWhateverIsUsed() {
    for (double used : new double[] {1e-6, 0.5, 1, 20}) {
      StackAxis axis = StackAxis.bytes(List.of(used * CAPACITY), CAPACITY);
      assertFalse(axis.cuts(CAPACITY));
      assertTrue(axis.share(CAPACITY) >= 0.5);
      assertEquals(used > 2, axis.cuts(used * CAPACITY));
    }
  }

  @Test
  void marksOfMemoryAreRoundNumbersOfGibibytes() {
    StackAxis axis = StackAxis.bytes(List.of(CAPACITY), CAPACITY);
    List<String> labels = axis.marks().stream().map(StackAxis.Mark::label).toList();
    assertEquals(List.of("0", "5 GiB", "10 GiB", "15 GiB"), labels);
    assertEquals(5.0 * (1L << 30), axis.marks().get(1).value());
  }
}
