package dev.pipewright.cost;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.plan.LayerRange;
import java.util.List;
import org.junit.jupiter.api.Test;

class PartlyKeptTest {
  private static final LayerCosts FOUR =
      new LayerCosts(
          new double[] {1, 2, 3, 4},
          new double[] {2, 4, 6, 8},
          new double[] {10, 20, 30, 40},
          new double[] {5, 6, 7, 8});

  @Test
  void withoutRunsEverythingIsHeld() {
    assertEquals(new PartlyKept(105, 0, 0), PartlyKept.of(FOUR, List.of()));
  }

  /** Layers 1 and 2 hold their input; when they run again, what layer 3 kept is gone. */
  @Test
  void aRunHoldsItsInputAndWorksOnAllItKeeps() {
    PartlyKept kept = PartlyKept.of(FOUR, List.of(new LayerRange(1, 2)));
    assertEquals(5 + 10 + 6 + 40, kept.heldBytes());
    assertEquals(5 + 10 + 6 + 50 - 61, kept.workingBytes());
    assertEquals(2 + 3, kept.extraSeconds());
    assertEquals(3 * 61 + 10, kept.peakBytes(3));
  }

  @Test
  void runsFollowEachOther() {
    PartlyKept kept = PartlyKept.of(FOUR, List.of(new LayerRange(0, 1), new LayerRange(2, 3)));
    assertEquals(5 + 7, kept.heldBytes());
    assertEquals(70, kept.workingBytes()); // of the second run, on top of both inputs
    assertEquals(10, kept.extraSeconds());
  }
}
