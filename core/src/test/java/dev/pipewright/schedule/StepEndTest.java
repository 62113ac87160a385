package dev.pipewright.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class StepEndTest {
  @Test
  void aPipelineAddsUpAndUpdatesOnceItsStageIsDone() {
    assertEquals(
        """
        0 | F0 F1 B0 B1 A0 U0
        1 | F0 B0 F1 B1 A0 U0
        """,
        Diagram.of(StepEnd.of(OneForwardOneBackward.of(2, 2))));
  }

  @Test
  void aRankOfSeveralStagesAddsUpTheFirstWhileItComputesTheOther() {
    assertEquals(
        """
        0 | F0 F1 F0 F1 B0 B1 A0 B0 B1 A0 U0 U0
        1 | F0 F1 F0 B0 F1 B1 A0 B0 B1 A0 U0 U0
        """,
        Diagram.of(StepEnd.of(Interleaved.of(2, 2, 2))));
  }

  @Test
  void ranksThatShareStagesAddUpInTheSameOrder() {
    Schedule ended = StepEnd.of(DualPipe.of(4, 8));
    for (int rank = 0; rank < 4; rank++) {
      var ours = order(ended, rank);
      assertEquals(ours, order(ended, 3 - rank));
      assertEquals(2, ours.size());
    }
  }

  private static java.util.List<Integer> order(Schedule schedule, int rank) {
    return schedule.program(rank).stream()
        .filter(op -> op.pass() == Op.Pass.REDUCE)
        .map(op -> op.stage() % 4)
        .toList();
  }
}
