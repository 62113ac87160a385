package dev.pipewright.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class GradientPassesOfAStageTest {
  /** A backward pass in two parts completes gradients once. */
  @Test
  void eachMicroBatchCompletesGradientsOnce() {
    for (Schedule schedule : new Schedule[] {ZeroBubbleH1.of(3, 4), GPipe.of(3, 4)}) {
      for (int rank = 0; rank < 3; rank++) {
        for (int depth = 0; depth < 3; depth++) {
          assertEquals(rank == depth ? 4 : 0, schedule.gradientPasses(rank, depth));
        }
      }
    }
  }

  /** Each direction of two has its own micro-batches; a rank has a stage of either. */
  @Test
  void stagesOfBothDirectionsAreThoseOfOneChain() {
    Schedule chimera = Chimera.of(4, 4);
    for (int rank = 0; rank < 4; rank++) {
      for (int depth = 0; depth < 4; depth++) {
        boolean holds = rank == depth || rank == 3 - depth;
        assertEquals(
            holds ? chimera.microBatches() : 0, chimera.gradientPasses(rank, depth), "" + rank);
      }
    }
  }
}
