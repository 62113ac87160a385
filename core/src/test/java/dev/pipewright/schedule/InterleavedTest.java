package dev.pipewright.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class InterleavedTest {
  @Test
  void ranksTurnToTheirNextChunkAfterAGroup() {
    assertEquals(
        """
        0 | 0F0 0F1 2F0 2F1 0F2 2B0 0F3 2B1 2F2 0B0 2F3 0B1 2B2 2B3 0B2 0B3
        1 | 1F0 1F1 3F0 3B0 3F1 3B1 1F2 1B0 1F3 1B1 3F2 3B2 3F3 3B3 1B2 1B3
        """,
        Picture.of(Interleaved.of(2, 2, 4)));
  }

  @Test
  void aGroupThatIsNotFullLeavesGaps() {
    assertEquals(
        """
        0 | 0F0 0F1 0F2 2F0 2F1 2F2 2B0 0F3 2B1 0F4 2B2 0B0 2F3 0B1 2F4 0B2 2B3 2B4 0B3 0B4
        1 | 1F0 1F1 1F2 3F0 3B0 3F1 3B1 3F2 3B2 1F3 1B0 1F4 1B1 1B2 3F3 3B3 3F4 3B4 1B3 1B4
        """,
        Picture.of(Interleaved.of(2, 2, 5)));
  }

  @Test
  void groupsAreLargerThanTheRanksRatherThanNotFull() {
    assertEquals(
        """
        0 | 0F0 0F1 0F2 2F0 2F1 2F2 2B0 2B1 2B2 0B0 0B1 0B2
        1 | 1F0 1F1 1F2 3F0 3B0 3F1 3B1 3F2 3B2 1B0 1B1 1B2
        """,
        Picture.of(Interleaved.of(2, 2, 3)));
  }

  @Test
  void splitBackwardPassesNeedLessWarmUp() {
    assertEquals(
        """
        0 | 0F0 0F1 2F0 2F1 2I0 2W0 2I1 2W1 0I0 0W0 0I1 0W1
        1 | 1F0 1F1 3F0 3I0 3W0 3F1 3I1 3W1 1I0 1W0 1I1 1W1
        """,
        Picture.of(Interleaved.grouped(2, 2, 2, 2)));
  }

  @ParameterizedTest(name = "{0} ranks")
  @ValueSource(ints = {1, 2, 3, 4, 5, 8})
  void runsForAnyNumberOfChunksMicroBatchesAndAnyGroup(int ranks) {
    for (int chunks = 1; chunks <= 4; chunks++) {
      for (int microBatches = 1; microBatches <= 2 * ranks + 3; microBatches++) {
        Schedule schedule = Interleaved.of(ranks, chunks, microBatches);
        Picture.assertRuns(schedule);
        assertEquals(2L * ranks * chunks * microBatches, schedule.size());
        for (int group = Math.max(1, ranks / 2); group <= ranks + 2; group++) {
          Picture.assertRuns(Interleaved.grouped(ranks, chunks, microBatches, group));
        }
      }
    }
  }

  @Test
  void groupsThatAreTooSmallAreRefused() {
    Exception e =
        assertThrows(IllegalArgumentException.class, () -> Interleaved.grouped(8, 2, 16, 3));
    assertEquals(
        "with groups of fewer micro-batches than half the ranks, ranks wait for each other for ever; take groups of at least 4: ranks=8, group=3",
        e.getMessage());
    Picture.assertRuns(Interleaved.grouped(8, 1, 16, 3));
  }

  @Test
  void nothingToInterleaveIsRefused() {
    Exception e = assertThrows(IllegalArgumentException.class, () -> Interleaved.of(4, 0, 8));
    assertEquals(
        "an interleaved schedule has ranks, chunks, micro-batches and groups of at least one: ranks=4, chunks=0, micro_batches=8, group=4",
        e.getMessage());
    assertThrows(IllegalArgumentException.class, () -> Interleaved.of(-1, 2, 8));
    assertThrows(IllegalArgumentException.class, () -> Interleaved.of(4, 2, 0));
    assertThrows(IllegalArgumentException.class, () -> Interleaved.grouped(4, 2, 8, 0));
  }
}
