package dev.pipewright.sim;

import static dev.pipewright.sim.ClosedForms.MOST;
import static dev.pipewright.sim.ClosedForms.assertMakespan;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.schedule.Chimera;
import dev.pipewright.schedule.DualPipe;
import dev.pipewright.schedule.DualPipeV;
import dev.pipewright.schedule.Hanayo;
import dev.pipewright.schedule.Interleaved;
import dev.pipewright.schedule.InterleavedZeroBubble;
import dev.pipewright.schedule.LoopedBreadthFirst;
import dev.pipewright.schedule.OneForwardOneBackwardV;
import dev.pipewright.schedule.search.OpTimes;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/**
 * With several stages on each rank: one unit all of its forward passes of a micro-batch, two the
 * backward ones, unless their paper counts otherwise.
 */
class ClosedFormsOfChunksTest {
  private static int most(Run run) {
    return Arrays.stream(run.peakActivations()).max().orElseThrow();
  }

  @Test
  void interleavingDividesTheWaitingByTheChunks() {
    for (int p = 1; p <= MOST; p++) {
      for (int v = 1; v <= 4; v++) {
        for (int m = p; m <= MOST; m++) {
          double expected = 3 * m + 3.0 * (p - 1) / v;
          if (m % (m / p) == 0) { // equal groups
            assertMakespan(expected, Interleaved.of(p, v, m), 1.0 / v, 2.0 / v);
          }
          assertMakespan(expected, LoopedBreadthFirst.of(p, v, m), 1.0 / v, 2.0 / v);
        }
      }
    }
  }

  @Test
  void interleavedZeroBubbleWaitsAThirdOfInterleaved() {
    for (int p = 1; p <= MOST; p++) {
      for (int v = 1; v <= 4; v++) {
        for (int m = p; m <= MOST; m++) {
          if (m % (m / p) == 0) { // equal groups
            double expected = 3 * m + (p - 1.0) / v;
            assertMakespan(expected, InterleavedZeroBubble.of(p, v, m), 1.0 / v, 2.0 / v);
          }
        }
      }
    }
  }

  @Test
  void splitInterleavingWithFullGroupsHoldsNoMoreThanARankPerChunk() {
    for (int p = 1; p <= MOST; p++) {
      for (int m = p; m <= MOST; m += p) {
        Run run = assertMakespan(3 * m + p - 1, Interleaved.grouped(p, 2, m, p), 0.5, 1);
        assertEquals(2 * p, most(run));
      }
    }
  }

  /** Both in activations of half a rank's layers: 1F1B holds 2p of them. */
  @Test
  void theVHoldsTwoThirdsOfOneForwardOneBackward() {
    for (int p = 1; p <= MOST; p++) {
      int m = 3 * p + 20;
      OpTimes halves = OpTimes.equal(2 * p, 0.5, 0.5, 0.5, 0);
      Run run = StaticSimulator.run(OneForwardOneBackwardV.of(p, m), halves);
      assertEquals(2 * (2 * p / 3 + 1), most(run));
      assertTrue(run.makespan() <= 3 * (m + p - 1) + 3);
    }
  }

  @Test
  void dualPipeWaitsForHalfOfTheRanksLessOne() {
    for (int p = 2; p <= MOST / 2; p += 2) {
      for (int m = 2 * p; m <= MOST; m += 2) {
        assertMakespan(3 * m + 2 * (p / 2 - 1), DualPipe.of(p, m), 1, 2);
      }
    }
  }

  @Test
  void dualPipeFoldedInTwoWaitsForTheRanksLessOne() {
    for (int p = 1; p <= MOST / 2; p++) {
      for (int m = 2 * p; m <= MOST; m++) {
        assertMakespan(3 * m + p - 1, DualPipeV.of(p, m), 0.5, 1);
      }
    }
  }

  /** Passes of one unit either way. */
  @Test
  void chimeraWaitsForTheRanksLessTwo() {
    for (int p = 2; p <= MOST; p += 2) {
      for (int m = p; m <= 2 * MOST; m += p) {
        assertMakespan(2 * m + p - 2, Chimera.of(p, m), 1, 1);
      }
    }
  }

  /** Passes of one unit either way, two for each wave. */
  @Test
  void wavesWaitForTheRanksLessOneAsPassesOfAChunk() {
    for (int p = 1; p <= MOST; p++) {
      for (int waves = 1; waves <= 3; waves++) {
        for (int m = p; m <= MOST; m += p) {
          assertMakespan(4 * waves * m + 2 * (p - 1), Hanayo.of(p, m, waves), 1, 1);
        }
      }
    }
  }
}
