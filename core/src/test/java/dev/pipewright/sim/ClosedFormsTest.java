package dev.pipewright.sim;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.schedule.GPipe;
import dev.pipewright.schedule.Interleaved;
import dev.pipewright.schedule.InterleavedZeroBubble;
import dev.pipewright.schedule.LoopedBreadthFirst;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.OneForwardOneBackwardV;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.ZeroBubbleH1;
import dev.pipewright.schedule.ZeroBubbleH2;
import dev.pipewright.schedule.timed.OpTimes;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Steps of equal passes, one unit for all chunks of a rank, take what the papers say. */
class ClosedFormsTest {
  private static final int[] RANKS = {1, 2, 3, 4, 5, 8, 13, 32, 64};

  private static Run run(Schedule schedule) {
    double chunk = (double) schedule.ranks() / schedule.stages();
    return StaticSimulator.run(schedule, OpTimes.equal(schedule.stages(), chunk, chunk, chunk, 0));
  }

  private static void assertMakespan(double expected, Schedule schedule) {
    assertEquals(
        expected,
        run(schedule).makespan(),
        1e-9,
        () ->
            "%s, %d ranks, %d micro-batches"
                .formatted(schedule.name(), schedule.ranks(), schedule.microBatches()));
  }

  @Test
  void gPipeAndOneForwardOneBackwardTakeThreeTimesRanksAndMicroBatchesLessOne() {
    for (int p = 1; p <= 64; p++) {
      for (int m = 1; m <= 64; m++) {
        assertMakespan(3 * (m + p - 1), GPipe.of(p, m));
        assertMakespan(3 * (m + p - 1), OneForwardOneBackward.of(p, m));
      }
    }
  }

  @Test
  void interleavingDividesTheWaitingByTheChunks() {
    for (int p : RANKS) {
      for (int v = 1; v <= 4; v++) {
        for (int m = p; m <= 64; m++) {
          if (m % (m / p) == 0) { // equal groups
            assertMakespan(3 * m + 3.0 * (p - 1) / v, Interleaved.of(p, v, m));
          }
          assertMakespan(3 * m + 3.0 * (p - 1) / v, LoopedBreadthFirst.of(p, v, m));
        }
      }
    }
  }

  @Test
  void zeroBubbleH1WaitsAThirdOfOneForwardOneBackward() {
    for (int p = 1; p <= 64; p++) {
      for (int m = p; m <= 64; m++) {
        Schedule schedule = ZeroBubbleH1.of(p, m);
        assertMakespan(3 * m + p - 1, schedule);
        int[] all = new int[p];
        Arrays.fill(all, p);
        assertArrayEquals(all, run(schedule).peakActivations());
      }
    }
  }

  @Test
  void interleavedZeroBubbleWaitsAThirdOfInterleaved() {
    for (int p : RANKS) {
      for (int v = 1; v <= 4; v++) {
        for (int m = p; m <= 64; m++) {
          if (m % (m / p) == 0) { // equal groups
            assertMakespan(3 * m + (p - 1.0) / v, InterleavedZeroBubble.of(p, v, m));
          }
        }
      }
    }
  }

  @Test
  void splitInterleavingWithFullGroupsHoldsNoMoreThanARankPerChunk() {
    for (int p : RANKS) {
      for (int m = p; m <= 64; m += p) {
        Run run = run(Interleaved.grouped(p, 2, m, p));
        assertEquals(2 * p, Arrays.stream(run.peakActivations()).max().orElseThrow());
        assertEquals(3 * m + (p - 1), run.makespan(), 1e-9);
      }
    }
  }

  @Test
  void ranksOfZeroBubbleH2NeverWaitOnceTheyHaveBegun() {
    for (int p = 1; p <= 64; p++) {
      for (int m = 2 * p - 1; m <= 64; m++) {
        Run run = run(ZeroBubbleH2.of(p, m));
        assertEquals(0, run.spanIdleShare(), 1e-12);
        int[] all = new int[p];
        Arrays.fill(all, 2 * p - 1);
        assertArrayEquals(all, run.peakActivations());
      }
    }
  }

  /** Both in activations of half a rank's layers: 1F1B holds 2p of them. */
  @Test
  void theVHoldsTwoThirdsOfOneForwardOneBackward() {
    for (int p : RANKS) {
      Run run = run(OneForwardOneBackwardV.of(p, 3 * p + 20));
      assertEquals(2 * (2 * p / 3 + 1), Arrays.stream(run.peakActivations()).max().orElseThrow());
      assertTrue(run.makespan() <= 3 * (3 * p + 20 + p - 1) + 3);
    }
  }
}
