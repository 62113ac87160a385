package dev.pipewright.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ZeroBubbleH1Test {
  @Test
  void weightGradientsStayAsManyBehindAsTheRankSays() {
    assertEquals(
        """
        0 | F0 F1 F2 I0 W0 F3 I1 W1 I2 W2 I3 W3
        1 | F0 F1 I0 F2 I1 W0 F3 I2 W1 I3 W2 W3
        2 | F0 I0 F1 I1 F2 I2 W0 F3 I3 W1 W2 W3
        """,
        Diagram.of(ZeroBubbleH1.of(3, 4)));
  }

  @ParameterizedTest(name = "{0} ranks")
  @ValueSource(ints = {1, 2, 3, 4, 7, 16})
  void runsForAnyNumberOfMicroBatches(int ranks) {
    for (int microBatches = 1; microBatches <= 2 * ranks + 3; microBatches++) {
      Schedule schedule = ZeroBubbleH1.of(ranks, microBatches);
      Picture.assertRuns(schedule);
      assertEquals(3L * ranks * microBatches, schedule.size());
    }
  }

  @Test
  void noMicroBatchesAreRefused() {
    Exception e = assertThrows(IllegalArgumentException.class, () -> ZeroBubbleH1.of(4, 0));
    assertEquals(
        "a schedule has ranks and micro-batches: ranks=4, micro_batches=0", e.getMessage());
    assertThrows(IllegalArgumentException.class, () -> ZeroBubbleH1.of(0, 4));
  }
}
