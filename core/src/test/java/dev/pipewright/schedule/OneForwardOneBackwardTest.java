package dev.pipewright.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

class OneForwardOneBackwardTest extends ScheduleContract {
  @Override
  Schedule schedule(int stages, int microBatches) {
    return OneForwardOneBackward.of(stages, microBatches);
  }

  @Override
  int inFlight(int stages, int microBatches, int stage) {
    return Math.min(stages - stage, microBatches);
  }

  @Test
  void policyAHoldsOneMicroBatchMoreForEveryStageBehind() {
    assertEquals(
        """
        0 | F0 F1 F2 B0 F3 B1 B2 B3
        1 | F0 F1 B0 F2 B1 F3 B2 B3
        2 | F0 B0 F1 B1 F2 B2 F3 B3
        """,
        Diagram.of(schedule(3, 4)));
  }

  @Test
  void memoryForTwoMicroBatchesShortensTheWarmUp() {
    assertEquals(
        """
        0 | F0 F1 B0 F2 B1 F3 B2 B3
        1 | F0 F1 B0 F2 B1 F3 B2 B3
        2 | F0 B0 F1 B1 F2 B2 F3 B3
        """,
        Diagram.of(OneForwardOneBackward.of(4, new int[] {2, 2, 1})));
  }

  @Test
  void fewMicroBatchesLimitTheWarmUp() {
    assertEquals(
        """
        0 | F0 F1 B0 B1
        1 | F0 F1 B0 B1
        2 | F0 B0 F1 B1
        """,
        Diagram.of(schedule(3, 2)));
  }

  @Test
  void moreInFlightThanThereAreMicroBatchesIsRefused() {
    for (int wrong : new int[] {0, 5}) {
      Exception e =
          assertThrows(
              IllegalArgumentException.class,
              () -> OneForwardOneBackward.of(4, new int[] {4, wrong}));
      assertEquals(
          "micro-batches in flight must be in 1..micro_batches: stage=1, in_flight="
              + wrong
              + ", micro_batches=4",
          e.getMessage());
    }
  }

  @Nested
  class PolicyB extends ScheduleContract {
    @Override
    Schedule schedule(int stages, int microBatches) {
      return PipelinePolicy.B.schedule(
          microBatches, PipelinePolicy.B.inFlight(stages, microBatches));
    }

    @Override
    int inFlight(int stages, int microBatches, int stage) {
      return Math.min(2 * (stages - stage) - 1, microBatches);
    }

    @Test
    void holdsTwoMicroBatchesMoreForEveryStageBehind() {
      assertEquals(
          """
          0 | F0 F1 F2 F3 F4 B0 F5 B1 B2 B3 B4 B5
          1 | F0 F1 F2 B0 F3 B1 F4 B2 F5 B3 B4 B5
          2 | F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5
          """,
          Diagram.of(schedule(3, 6)));
    }
  }
}
