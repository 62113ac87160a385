package dev.pipewright.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class InterleavedZeroBubbleTest {
  /** The second rank waits for nothing: weight gradients stay one input gradient behind. */
  @Test
  void laterRanksPutWeightGradientsOff() {
    assertEquals(
        """
        0 | 0F0 0F1 2F0 2F1 2I0 2W0 2I1 2W1 0I0 0W0 0I1 0W1
        1 | 1F0 1F1 3F0 3I0 3F1 3I1 3W0 1I0 3W1 1I1 1W0 1W1
        """,
        Picture.of(InterleavedZeroBubble.of(2, 2, 2)));
  }

  @ParameterizedTest(name = "{0} ranks")
  @ValueSource(ints = {1, 2, 3, 4, 5, 8})
  void runsForAnyNumberOfChunksAndMicroBatches(int ranks) {
    for (int chunks = 1; chunks <= 4; chunks++) {
      for (int microBatches = 1; microBatches <= 2 * ranks + 3; microBatches++) {
        Schedule schedule = InterleavedZeroBubble.of(ranks, chunks, microBatches);
        Picture.assertRuns(schedule);
        assertEquals(3L * ranks * chunks * microBatches, schedule.size());
      }
    }
  }

  @Test
  void nothingToInterleaveIsRefused() {
    assertThrows(IllegalArgumentException.class, () -> InterleavedZeroBubble.of(4, 2, 0));
  }
}
