package dev.pipewright.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LoopedBreadthFirstTest {
  @Test
  void aRankFinishesOneChunkBeforeTheNext() {
    assertEquals(
        """
        0 | 0F0 0F1 0F2 2F0 2F1 2F2 2B2 2B1 2B0 0B2 0B1 0B0
        1 | 1F0 1F1 1F2 3F0 3F1 3F2 3B2 3B1 3B0 1B2 1B1 1B0
        """,
        Picture.of(LoopedBreadthFirst.of(2, 2, 3)));
  }

  @ParameterizedTest(name = "{0} ranks")
  @ValueSource(ints = {1, 2, 3, 4, 8})
  void runsForAnyNumberOfChunksAndMicroBatches(int ranks) {
    for (int chunks = 1; chunks <= 4; chunks++) {
      for (int microBatches = 1; microBatches <= 2 * ranks + 3; microBatches++) {
        Schedule schedule = LoopedBreadthFirst.of(ranks, chunks, microBatches);
        Picture.assertRuns(schedule);
        assertEquals(2L * ranks * chunks * microBatches, schedule.size());
      }
    }
  }

  @Test
  void noChunksAreRefused() {
    Exception e =
        assertThrows(IllegalArgumentException.class, () -> LoopedBreadthFirst.of(4, 0, 8));
    assertEquals(
        "a looped schedule has ranks, chunks and micro-batches: ranks=4, chunks=0, micro_batches=8",
        e.getMessage());
  }
}
