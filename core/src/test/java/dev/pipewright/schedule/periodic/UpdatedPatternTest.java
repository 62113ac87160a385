package dev.pipewright.schedule.periodic;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.schedule.Diagram;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.PipeDream2bw;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.check.Validator;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class UpdatedPatternTest {
  @Test
  void equalStagesAreTwoBuffers() {
    Pattern pattern = OneForwardOneBackwardStar.of(Loads.equal(3), 2);
    assertEquals(3, UpdatedPattern.least(pattern));
    assertEquals(
        Diagram.of(PipeDream2bw.of(3, 4, 2)),
        Diagram.of(UpdatedPattern.of("periodic", pattern, 4, 2)));
  }

  /** Every stage has two versions at most: passes meet the newest or the one before. */
  @RepeatedTest(100)
  void twoVersionsAreEnough(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    List<StageLoad> stages = Loads.whole(random, random.nextInt(1, 8), 5);
    double once = Loads.slowest(stages) + random.nextInt(0, 8);
    int kept = random.nextInt(0, 5);
    Pattern pattern =
        kept == 0 ? OneForwardOneBackwardStar.of(stages, once) : KPeriodic.of(stages, once, kept);
    int perUpdate = UpdatedPattern.least(pattern) + random.nextInt(0, 3);
    int updates = random.nextInt(1, 5);
    Schedule schedule = UpdatedPattern.of("periodic", pattern, perUpdate, updates);
    assertEquals(List.of(), Validator.check(schedule), pattern::toString);
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      int newest = 0;
      int back = 0;
      for (long op : schedule.packed(rank)) {
        int number = Schedule.microBatch(op);
        if (Schedule.pass(op) == Pass.UPDATE) {
          assertEquals(newest, number);
          newest++;
          assertEquals(newest * perUpdate, back, "an update is behind its last batch");
        } else {
          int behind = newest - PipeDream2bw.version(number, perUpdate);
          assertTrue(0 <= behind && behind <= 1, number + " at version " + newest);
          back += Schedule.pass(op) == Pass.BACKWARD ? 1 : 0;
        }
      }
      assertEquals(updates, newest);
    }
  }

  @Test
  void fewerBatchesThanAreInFlightAreRefused() {
    Pattern pattern = OneForwardOneBackwardStar.of(Loads.equal(3), 2);
    var mistake =
        assertThrows(
            IllegalArgumentException.class, () -> UpdatedPattern.of("periodic", pattern, 2, 1));
    assertEquals(
        "two versions are enough from as many batches per update as are in flight on: per_update=2; take 3 or more",
        mistake.getMessage());
  }

  /** Batch 1 comes back before batch 0 does. */
  @Test
  void batchesThatOvertakeAreRefused() {
    List<RepeatedOp> ops =
        List.of(
            new RepeatedOp(Pass.FORWARD, 0, 0, 0),
            new RepeatedOp(Pass.FORWARD, 0, 1, 1),
            new RepeatedOp(Pass.BACKWARD, 0, 2, 1),
            new RepeatedOp(Pass.BACKWARD, 0, 3, 0));
    Pattern pattern = Pattern.of(Placement.straight(1), Loads.equal(1), 4, 2, ops);
    var mistake =
        assertThrows(IllegalArgumentException.class, () -> UpdatedPattern.check(pattern, 2));
    assertTrue(String.valueOf(mistake.getMessage()).contains("in their batches' order"));
  }
}
