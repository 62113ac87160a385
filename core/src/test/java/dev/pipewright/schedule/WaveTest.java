package dev.pipewright.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.schedule.check.Validator;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.StaticSimulator;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Chimera and Hanayo, which run in waves. */
class WaveTest {
  private static final double DUST = 1e-9;

  @Test
  void chimeraOfFourRanksFourMicroBatches() {
    assertEquals(
        """
        0 | F0 F1 F0 B0 F1 B1 B0 B1
        1 | F0 F0 F1 F1 B0 B0 B1 B1
        2 | F0 F0 F1 F1 B0 B0 B1 B1
        3 | F0 F1 F0 B0 F1 B1 B0 B1
        """,
        Diagram.of(Chimera.of(4, 4)));
  }

  @Test
  void theNextUnitOfChimeraFillsTheBubbleBeforeTheLastBackwardPass() {
    assertEquals(
        """
        0 | F0 F1 F0 B0 F1 B1 B0 F2 B1 F3 F2 B2 F3 B3 B2 B3
        1 | F0 F0 F1 F1 B0 B0 B1 B1 F2 F2 F3 F3 B2 B2 B3 B3
        2 | F0 F0 F1 F1 B0 B0 B1 B1 F2 F2 F3 F3 B2 B2 B3 B3
        3 | F0 F1 F0 B0 F1 B1 B0 F2 B1 F3 F2 B2 F3 B3 B2 B3
        """,
        Diagram.of(Chimera.of(4, 8)));
  }

  @Test
  void oneWaveOfHanayoOfThreeRanksThreeMicroBatches() {
    assertEquals(
        """
        0 | F0 F1 F2 F0 B0 F1 B1 F2 B2 B0 B1 B2
        1 | F0 F1 F0 F2 F1 B0 F2 B1 B0 B2 B1 B2
        2 | F0 F0 F1 F1 F2 F2 B0 B0 B1 B1 B2 B2
        """,
        Diagram.of(Hanayo.of(3, 3, 1)));
  }

  @Test
  void laterWavesOfHanayoVisitTheStagesInTurn() {
    Schedule schedule = Hanayo.of(2, 2, 2);
    List<String> ops = new ArrayList<>();
    for (Op op : schedule.program(0)) {
      ops.add(op + "@" + op.stage());
    }
    assertEquals(
        "F0@0 F1@0 F0@3 F0@4 F1@3 F1@4 F0@7 B0@7 F1@7 B1@7 B0@4 B0@3 B1@4 B1@3 B0@0 B1@0",
        String.join(" ", ops));
  }

  /** The slot of an op in a chain where units of {@code unit} micro-batches follow one another. */
  private static int slot(Op op, int depth, int unit) {
    int stage = op.stage() % depth;
    int entry = op.microBatch() / unit * 2 * depth + 2 * (op.microBatch() % unit);
    return entry + (op.pass() == Op.Pass.FORWARD ? stage : 2 * depth - 1 - stage);
  }

  /** Every rank runs its ops slot by slot, never two in one, and none later than its slot. */
  private static Run assertInSlots(Schedule schedule, int unit) {
    assertEquals(List.of(), Validator.check(schedule));
    int depth = schedule.placement().depth();
    Run run = StaticSimulator.run(schedule, OpTimes.equal(schedule.stages(), 1, 0.5, 0.5, 0));
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      TreeMap<Integer, Op> slots = new TreeMap<>();
      List<Op> program = schedule.program(rank);
      for (int i = 0; i < program.size(); i++) {
        int slot = slot(program.get(i), depth, unit);
        assertNull(slots.put(slot, program.get(i)), "two ops in slot " + slot);
        assertTrue(run.start(rank, i) <= slot);
      }
      assertEquals(List.copyOf(slots.values()), program);
    }
    return run;
  }

  @Test
  void chimeraFillsAllSlotsButThoseOfTheEnds() {
    for (int ranks = 2; ranks <= 12; ranks += 2) {
      for (int units = 1; units <= 4; units++) {
        int microBatches = units * ranks;
        Run run = assertInSlots(Chimera.of(ranks, microBatches), ranks / 2);
        double slots = 2 * microBatches + ranks - 2;
        assertEquals(slots, run.makespan());
        assertEquals((ranks - 2) / slots, run.idleShare(), DUST);
      }
    }
  }

  @Test
  void hanayoFillsAllSlotsButThoseOfTheEnds() {
    for (int ranks = 1; ranks <= 7; ranks++) {
      for (int waves = 1; waves <= 4; waves++) {
        for (int microBatches = 1; microBatches <= 3 * ranks; microBatches++) {
          Run run = assertInSlots(Hanayo.of(ranks, microBatches, waves), ranks);
          if (microBatches % ranks == 0) {
            double slots = 4 * waves * microBatches + 2 * (ranks - 1);
            assertEquals(slots, run.makespan());
          }
        }
      }
    }
  }

  /** Backward passes twice as long: what is known of one unit, and what each further one costs. */
  @Test
  void slowerBackwardPassesLeaveABubbleBetweenUnits() {
    for (int ranks = 2; ranks <= 12; ranks += 2) {
      for (int units = 1; units <= 4; units++) {
        OpTimes times = OpTimes.equal(2 * ranks, 1, 1, 1, 0);
        int first = 3 * ranks + 2 * (ranks - 2);
        int further = 3 * ranks + ranks - 2;
        assertEquals(
            first + (units - 1) * further,
            StaticSimulator.run(Chimera.of(ranks, units * ranks), times).makespan());
      }
    }
    for (int ranks = 1; ranks <= 7; ranks++) {
      for (int waves = 1; waves <= 4; waves++) {
        OpTimes times = OpTimes.equal(2 * waves * ranks, 1, 1, 1, 0);
        assertEquals(
            6 * waves * ranks + 4 * (ranks - 1),
            StaticSimulator.run(Hanayo.of(ranks, ranks, waves), times).makespan());
        assertEquals(
            2 * 6 * waves * ranks + 6 * (ranks - 1),
            StaticSimulator.run(Hanayo.of(ranks, 2 * ranks, waves), times).makespan());
      }
    }
  }

  private static void assertRefused(String why, Runnable wrong) {
    assertEquals(why, assertThrows(IllegalArgumentException.class, wrong::run).getMessage());
  }

  @Test
  void whatDoesNotFitIsRefusedWithWhatDoes() {
    assertRefused(
        "chimera needs an even number of ranks, since they mirror each other: ranks=5; hanayo"
            + " works with any",
        () -> Chimera.of(5, 10));
    assertRefused(
        "chimera runs as many micro-batches as ranks at a time: micro_batches=10 is no multiple of"
            + " ranks=4; take 12, or hanayo, which works with any number",
        () -> Chimera.of(4, 10));
    assertRefused("hanayo runs in waves: waves=0; take 1 or more", () -> Hanayo.of(4, 8, 0));
  }
}
