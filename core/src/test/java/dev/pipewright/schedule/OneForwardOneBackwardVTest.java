package dev.pipewright.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OneForwardOneBackwardVTest {
  @Test
  void theLastRankTurnsRoundAtOnce() {
    assertEquals(
        """
        0 | 0F0 0F1 0F2 3F0 3B0 3F1 3B1 0F3 0B0 3F2 3B2 0B1 3F3 3B3 0B2 0B3
        1 | 1F0 2F0 1F1 2F1 2B0 1B0 1F2 2F2 2B1 1B1 1F3 2F3 2B2 1B2 2B3 1B3
        """,
        Picture.of(OneForwardOneBackwardV.of(2, 4)));
  }

  /** Stages that share a rank never meet, however often the block is repeated. */
  @ParameterizedTest(name = "{0} ranks")
  @ValueSource(ints = {1, 2, 3, 4, 5, 6, 17, 64})
  void theBlockRepeatsWithoutAPause(int ranks) {
    TurningBlock block = TurningBlock.of(ranks);
    int[][] busy = new int[ranks][TurningBlock.PERIOD];
    for (int stage = 0; stage < 2 * ranks; stage++) {
      int rank = Placement.waves(ranks, 2).rankOf(stage);
      busy[rank][block.forward(stage) % TurningBlock.PERIOD]++;
      busy[rank][block.backward(stage) % TurningBlock.PERIOD]++;
      busy[rank][(block.backward(stage) + 1) % TurningBlock.PERIOD]++;
      int before =
          stage == 2 * ranks - 1
              ? block.forward(stage) + TurningBlock.FORWARD
              : block.backward(stage + 1) + TurningBlock.BACKWARD;
      assertTrue(block.backward(stage) >= before);
    }
    for (int[] places : busy) {
      for (int times : places) {
        assertEquals(1, times);
      }
    }
  }

  @ParameterizedTest(name = "{0} ranks")
  @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 12, 17})
  void runsForAnyNumberOfMicroBatches(int ranks) {
    for (int microBatches = 1; microBatches <= 4 * ranks + 20; microBatches++) {
      Schedule schedule = OneForwardOneBackwardV.of(ranks, microBatches);
      Picture.assertRuns(schedule);
      assertEquals(4L * ranks * microBatches, schedule.size());
    }
  }

  @Test
  void noRanksAreRefused() {
    assertThrows(IllegalArgumentException.class, () -> OneForwardOneBackwardV.of(0, 4));
  }
}
