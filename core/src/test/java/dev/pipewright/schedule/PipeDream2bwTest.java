package dev.pipewright.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.schedule.Op.Pass;
import org.junit.jupiter.api.Test;

class PipeDream2bwTest extends ScheduleContract {
  @Override
  Schedule schedule(int stages, int microBatches) {
    int perUpdate = stages;
    while (microBatches % perUpdate != 0) {
      perUpdate++;
      if (perUpdate > microBatches) { // fewer than stages: one flight that never fills
        return OneForwardOneBackward.of(stages, microBatches);
      }
    }
    return PassesOnly.of(PipeDream2bw.of(stages, perUpdate, microBatches / perUpdate));
  }

  @Override
  int inFlight(int stages, int microBatches, int stage) {
    return Math.min(stages - stage, microBatches);
  }

  @Test
  void anUpdateFollowsTheLastBackwardPassOfABatchAndNothingIsFlushed() {
    assertEquals(
        """
        0 | F0 F1 F2 B0 F3 B1 F4 B2 U0 F5 B3 B4 B5 U1
        1 | F0 F1 B0 F2 B1 F3 B2 U0 F4 B3 F5 B4 B5 U1
        2 | F0 B0 F1 B1 F2 B2 U0 F3 B3 F4 B4 F5 B5 U1
        """,
        Diagram.of(PipeDream2bw.of(3, 3, 2)));
  }

  /** The version that the rule wants is the newest or the one before, whenever a pass runs. */
  @Test
  void twoVersionsAreEnough() {
    for (int stages = 1; stages <= 8; stages++) {
      for (int perUpdate = stages; perUpdate <= 2 * stages + 1; perUpdate++) {
        Schedule schedule = PipeDream2bw.of(stages, perUpdate, 5);
        boolean both = false;
        for (int stage = 0; stage < stages; stage++) {
          int updates = 0;
          for (Op op : schedule.program(stage)) {
            if (op.pass() == Pass.UPDATE) {
              assertEquals(updates++, op.microBatch());
            } else {
              int behind = updates - PipeDream2bw.version(op.microBatch(), perUpdate);
              assertTrue(0 <= behind && behind <= 1, op + " finds " + behind);
              both |= behind == 1;
            }
          }
          assertEquals(5, updates);
        }
        assertTrue(both);
      }
    }
  }

  /** All of a batch use one version, that of one batch before: the delay is 1 everywhere. */
  @Test
  void gradientsAreTakenOneUpdateBehind() {
    for (int microBatch = 0; microBatch < 12; microBatch++) {
      int batch = microBatch / 3;
      assertEquals(Math.max(batch - 1, 0), PipeDream2bw.version(microBatch, 3));
    }
  }

  @Test
  void fewerMicroBatchesPerUpdateThanStagesNeedMoreVersions() {
    Exception e = assertThrows(IllegalArgumentException.class, () -> PipeDream2bw.of(4, 3, 2));
    assertEquals(
        "two versions are enough from as many micro-batches per update as stages on:"
            + " per_update=3; take 4 or more",
        e.getMessage());
    assertThrows(IllegalArgumentException.class, () -> PipeDream2bw.of(4, 4, 0));
    assertThrows(IllegalArgumentException.class, () -> PipeDream2bw.of(0, 4, 1));
  }
}
