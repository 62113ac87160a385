package dev.pipewright.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.schedule.check.Validator;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.StaticSimulator;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class DualPipeTest {
  private static final double DUST = 1e-9;

  @Test
  void fourRanksEightMicroBatches() {
    assertEquals(
        """
        0 | F0 F1 F2 F0 I0 W0 F1 F3 B1 F2 B0 B2 F3 B1 B3 I2 W2 I3 W3
        1 | F0 F0 F1 F1 F2 B0 F2 B0 F3 B1 F3 B1 B2 B2 I3 I3 W3 W3
        2 | F0 F0 F1 F1 F2 B0 F2 B0 F3 B1 F3 B1 B2 B2 I3 I3 W3 W3
        3 | F0 F1 F2 F0 I0 W0 F1 F3 B1 F2 B0 B2 F3 B1 B3 I2 W2 I3 W3
        """,
        Diagram.of(DualPipe.of(4, 8)));
  }

  @Test
  void twoRanksFourMicroBatchesCutInHalf() {
    assertEquals(
        """
        0 | F0 F1 F2 F0 I0 W0 F1 F3 B1 F2 B0 B2 F3 B1 B3 I2 W2 I3 W3
        1 | F0 F0 F1 F1 F2 B0 F2 B0 F3 B1 F3 B1 B2 B2 I3 I3 W3 W3
        """,
        Diagram.of(DualPipeV.of(2, 4)));
  }

  @Test
  void pairsAreAForwardPassOfOneStageAndABackwardPassOfTheOther() {
    for (Schedule schedule : List.of(DualPipe.of(8, 20), DualPipeV.of(4, 11))) {
      for (int rank = 0; rank < schedule.ranks(); rank++) {
        int pairs = 0;
        List<Op> ops = schedule.program(rank);
        for (int i = 0; i < ops.size(); i++) {
          if (Schedule.isJoined(schedule.packed(rank)[i])) {
            pairs++;
            assertEquals(Op.Pass.FORWARD, ops.get(i).pass());
            assertEquals(Op.Pass.BACKWARD, ops.get(i + 1).pass());
            assertTrue(ops.get(i).stage() != ops.get(i + 1).stage());
          }
        }
        assertTrue(pairs > 0);
      }
    }
  }

  @Test
  void bothWaysTakeTheTimeAndMemoryOfTheClosedForms() {
    for (int ranks = 2; ranks <= 16; ranks += 2) {
      for (int microBatches = 2 * ranks; microBatches <= 4 * ranks + 6; microBatches += 2) {
        Schedule schedule = DualPipe.of(ranks, microBatches);
        assertEquals(List.of(), Validator.check(schedule));
        Run run = StaticSimulator.run(schedule, OpTimes.equal(2 * ranks, 1, 1, 1, 0));
        assertEquals(3 * microBatches + 2 * (ranks / 2 - 1), run.makespan());
        int[] peaks = new int[ranks];
        Arrays.fill(peaks, ranks + 1);
        assertEquals(Arrays.toString(peaks), Arrays.toString(run.peakActivations()));
      }
    }
  }

  @Test
  void oneWayThereAndBackTakesTheTimeAndMemoryOfTheClosedForms() {
    for (int ranks = 1; ranks <= 9; ranks++) {
      for (int microBatches = 2 * ranks; microBatches <= 4 * ranks + 3; microBatches++) {
        Schedule schedule = DualPipeV.of(ranks, microBatches);
        assertEquals(List.of(), Validator.check(schedule));
        Run run = StaticSimulator.run(schedule, OpTimes.equal(2 * ranks, 0.5, 0.5, 0.5, 0));
        assertEquals(3 * microBatches + ranks - 1, run.makespan(), DUST);
        int[] peaks = new int[ranks];
        Arrays.fill(peaks, 2 * ranks + 1);
        assertEquals(Arrays.toString(peaks), Arrays.toString(run.peakActivations()));
      }
    }
  }

  private static void assertRefused(String why, Runnable wrong) {
    assertEquals(why, assertThrows(IllegalArgumentException.class, wrong::run).getMessage());
  }

  @Test
  void whatDoesNotFitIsRefusedWithWhatDoes() {
    assertRefused(
        "dualpipe needs an even number of ranks, since they mirror each other: ranks=3; dualpipev"
            + " works with any, from 2 micro-batches per rank on",
        () -> DualPipe.of(3, 12));
    assertRefused(
        "dualpipe sends half of the micro-batches each way: micro_batches=9 is odd; take 10",
        () -> DualPipe.of(4, 9));
    assertRefused(
        "dualpipe needs 2 micro-batches per rank to fill: micro_batches=6, ranks=4; take 8 or"
            + " more, or 1f1b, which works with any number",
        () -> DualPipe.of(4, 6));
    assertRefused(
        "dualpipev needs 2 micro-batches per rank to fill: micro_batches=7, ranks=4; take 8 or"
            + " more, or 1f1b, which works with any number",
        () -> DualPipeV.of(4, 7));
  }
}
