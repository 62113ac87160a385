package dev.pipewright.sim;

import static dev.pipewright.sim.ClosedForms.MOST;
import static dev.pipewright.sim.ClosedForms.assertMakespan;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.schedule.GPipe;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.schedule.ZeroBubbleH1;
import dev.pipewright.schedule.ZeroBubbleH2;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** With one stage on each rank: one unit a forward pass, two a backward one. */
class ClosedFormsTest {
  private static int[] all(int ranks, int activations) {
    int[] all = new int[ranks];
    Arrays.fill(all, activations);
    return all;
  }

  @Test
  void gPipeAndOneForwardOneBackwardTakeThreeTimesRanksAndMicroBatchesLessOne() {
    for (int p = 1; p <= MOST; p++) {
      for (int m = 1; m <= MOST; m++) {
        double expected = 3 * (m + p - 1);
        assertMakespan(expected, GPipe.of(p, m), 1, 2);
        assertMakespan(expected, OneForwardOneBackward.of(p, m), 1, 2);
        int[] policyB = PipelinePolicy.B.inFlight(p, m); // no faster without transfers
        assertMakespan(expected, OneForwardOneBackward.of(m, policyB), 1, 2);
      }
    }
  }

  @Test
  void zeroBubbleH1WaitsAThirdOfOneForwardOneBackward() {
    for (int p = 1; p <= MOST; p++) {
      for (int m = p; m <= MOST; m++) {
        Run run = assertMakespan(3 * m + p - 1, ZeroBubbleH1.of(p, m), 1, 2);
        assertArrayEquals(all(p, p), run.peakActivations());
      }
    }
  }

  @Test
  void ranksOfZeroBubbleH2NeverWaitOnceTheyHaveBegun() {
    for (int p = 1; p <= MOST; p++) {
      for (int m = 2 * p - 1; m <= MOST; m++) {
        Run run = assertMakespan(3 * m + p - 1, ZeroBubbleH2.of(p, m), 1, 2);
        assertEquals(0, run.spanIdleShare(), 1e-12);
        assertArrayEquals(all(p, 2 * p - 1), run.peakActivations());
      }
    }
  }
}
