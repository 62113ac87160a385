package dev.pipewright.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ZeroBubbleH2Test {
  @Test
  void ranksRunFurtherAheadAndPutWeightGradientsFurtherOff() {
    assertEquals(
        """
        0 | F0 F1 F2 I0 W0 F3 I1 W1 I2 W2 I3 W3
        1 | F0 I0 F1 I1 F2 I2 W0 F3 I3 W1 W2 W3
        """,
        Diagram.of(ZeroBubbleH2.of(2, 4)));
  }

  @ParameterizedTest(name = "{0} ranks")
  @ValueSource(ints = {1, 2, 3, 4, 7, 16})
  void runsForAnyNumberOfMicroBatches(int ranks) {
    for (int microBatches = 1; microBatches <= 2 * ranks + 3; microBatches++) {
      Schedule schedule = ZeroBubbleH2.of(ranks, microBatches);
      Picture.assertRuns(schedule);
      assertEquals(3L * ranks * microBatches, schedule.size());
    }
  }

  @Test
  void noRanksAreRefused() {
    assertThrows(IllegalArgumentException.class, () -> ZeroBubbleH2.of(0, 4));
  }
}
