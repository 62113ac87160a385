package dev.pipewright.schedule;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.cyclic.DataParallel;
import dev.pipewright.schedule.search.AdaptiveV;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.StaticSimulator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class RecomputedTest {
  @Test
  void forwardPassesRunAgainRightBeforeTheirBackwardPasses() {
    assertEquals(
        """
        0 | F0 F1 R0 B0 F2 R1 B1 R2 B2
        1 | F0 B0 F1 B1 F2 B2
        """,
        Diagram.of(Recomputed.of(OneForwardOneBackward.of(2, 3), (stage, i) -> stage == 0)));
    assertEquals(
        """
        0 | F0 F1 B0 F2 R1 B1 B2
        1 | F0 B0 F1 R1 B1 F2 B2
        """,
        Diagram.of(Recomputed.of(OneForwardOneBackward.of(2, 3), (stage, i) -> i == 1)));
  }

  @Test
  void halvesOfBackwardPassesNeedOneAndBeforeTheFirstOnly() {
    assertEquals(
        """
        0 | F0 F1 R0 I0 W0 F2 R1 I1 W1 R2 I2 W2
        1 | F0 R0 I0 F1 R1 I1 W0 F2 R2 I2 W1 W2
        """,
        Diagram.of(Recomputed.of(ZeroBubbleH1.of(2, 3), (stage, i) -> true)));
  }

  @Test
  void pairsStayTogetherBehindThePassThatRunsAgain() {
    long[] program =
        new Program()
            .add(Pass.FORWARD, 0, 0)
            .add(Pass.FORWARD, 0, 1)
            .join()
            .add(Pass.BACKWARD, 0, 0)
            .add(Pass.BACKWARD, 0, 1)
            .packed();
    Schedule pair = new Schedule("pair", 1, 2, new long[][] {program});
    Schedule again = Recomputed.of(pair, (stage, i) -> true);
    assertEquals("0 | F0 R0 F1 B0 R1 B1\n", Diagram.of(again));
    long[] packed = again.packed(0);
    for (int i = 0; i < packed.length; i++) {
      assertEquals(i == 2, Schedule.isJoined(packed[i]), "op " + i);
    }
  }

  static List<Schedule> schedules() {
    return List.of(
        GPipe.of(4, 6),
        Interleaved.of(4, 2, 8),
        InterleavedZeroBubble.of(4, 2, 8),
        ZeroBubbleH2.of(4, 9),
        DualPipe.of(4, 10),
        DualPipeV.of(4, 10),
        Chimera.of(4, 8),
        Hanayo.of(4, 8, 2),
        AdaptiveV.of(8, OpTimes.equal(8, 1, 1, 1, 0), 8),
        PassesOnly.of(PipeDream.of(12, 2, 3)),
        PassesOnly.of(DataParallel.zero(3, 3)));
  }

  @ParameterizedTest
  @MethodSource("schedules")
  void everySelectedPassRunsOnceMoreAndCostsItsTime(Schedule schedule) {
    var random = new SplittableRandom(7);
    boolean[] chosen = new boolean[schedule.stages() * schedule.microBatches()];
    int count = 0;
    for (int i = 0; i < chosen.length; i++) {
      chosen[i] = random.nextBoolean();
      count += chosen[i] ? 1 : 0;
    }
    Recomputed.Selector selector = (stage, i) -> chosen[stage * schedule.microBatches() + i];
    Schedule again = Recomputed.of(schedule, selector);
    Picture.assertRuns(again);
    assertEquals(schedule.size() + count, again.size());
    assertEquals(schedule.name(), again.name());
    OpTimes times = OpTimes.equal(schedule.stages(), 1, 1, 1, 0.25);
    var before = StaticSimulator.run(schedule, times);
    var after = StaticSimulator.run(again, times);
    double more = 0;
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      more += after.busy(rank) - before.busy(rank);
    }
    assertEquals(count, more, 1e-9);
    assertTrue(after.makespan() >= before.makespan());
    assertSame(again, Recomputed.of(again, selector)); // what runs again already does so once
  }

  private static void assertSame(Schedule expected, Schedule actual) {
    for (int rank = 0; rank < expected.ranks(); rank++) {
      assertArrayEquals(expected.packed(rank), actual.packed(rank));
    }
  }

  static Stream<Schedule> untouched() {
    return schedules().stream();
  }

  @ParameterizedTest
  @MethodSource("untouched")
  void nothingSelectedChangesNothing(Schedule schedule) {
    assertSame(schedule, Recomputed.of(schedule, (stage, i) -> false));
  }

  @ParameterizedTest
  @MethodSource("untouched")
  void eachRunsRightBeforeItsBackwardPassOrThePairThatHoldsIt(Schedule schedule) {
    Schedule again = Recomputed.of(schedule, (stage, i) -> true);
    for (int rank = 0; rank < again.ranks(); rank++) {
      long[] program = again.packed(rank);
      for (int i = 0; i < program.length; i++) {
        if (Schedule.pass(program[i]) != Pass.RECOMPUTE) {
          continue;
        }
        int next = i + 1; // several before one pair
        while (Schedule.pass(program[next]) == Pass.RECOMPUTE) {
          next++;
        }
        boolean found = false;
        do {
          found |=
              Schedule.pass(program[next]).propagates()
                  && Schedule.stage(program[next]) == Schedule.stage(program[i])
                  && Schedule.microBatch(program[next]) == Schedule.microBatch(program[i]);
        } while (Schedule.isJoined(program[next++]));
        assertTrue(found);
      }
    }
  }
}
