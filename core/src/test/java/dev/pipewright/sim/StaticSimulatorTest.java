package dev.pipewright.sim;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.schedule.GPipe;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.Op;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Program;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.check.Validator;
import dev.pipewright.schedule.search.OpTimes;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class StaticSimulatorTest {
  private static final double DUST = 1e-9;

  private static OpTimes times(SplittableRandom random, int stages) {
    return OpTimes.of(
        random.doubles(stages).toArray(),
        random.doubles(stages).toArray(),
        random.doubles(stages).toArray(),
        random.nextDouble());
  }

  /** Earliest ends by going over all ops until none moves. */
  private static Map<Op, Double> fixedPoint(Schedule schedule, OpTimes times) {
    Map<Op, Double> ends = new HashMap<>();
    boolean moved = true;
    while (moved) {
      moved = false;
      for (int rank = 0; rank < schedule.ranks(); rank++) {
        double free = 0;
        for (Op op : schedule.program(rank)) {
          double start = free;
          for (List<Op> some : RandomOrders.needs(op, schedule.placement())) {
            for (Op need : some) {
              int from = schedule.placement().rankOf(need.stage());
              double way = from == rank ? 0 : times.there()[0];
              start = Math.max(start, ends.getOrDefault(need, 0.0) + way);
            }
          }
          free = start + seconds(op, times);
          moved |= !Double.valueOf(free).equals(ends.put(op, free));
        }
      }
    }
    return ends;
  }

  private static double seconds(Op op, OpTimes times) {
    int stage = op.stage();
    return switch (op.pass()) {
      case FORWARD, RECOMPUTE -> times.forward()[stage];
      case BACKWARD -> times.input()[stage] + times.weight()[stage];
      case BACKWARD_INPUT -> times.input()[stage];
      case BACKWARD_WEIGHT -> times.weight()[stage];
      default -> throw new IllegalArgumentException("no pass of a micro-batch: op=" + op);
    };
  }

  @RepeatedTest(value = 300, name = "seed {currentRepetition}")
  void agreesWithIterationToAFixedPoint(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    Placement placement = RandomOrders.placement(random);
    Schedule schedule = RandomOrders.schedule(random, placement, random.nextInt(1, 5));
    assertTrue(Validator.check(schedule).isEmpty(), () -> Validator.check(schedule).toString());
    OpTimes times = times(random, placement.stages());
    Run run = StaticSimulator.run(schedule, times);
    Map<Op, Double> truth = fixedPoint(schedule, times);
    double last = 0;
    double work = 0;
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      List<Op> program = schedule.program(rank);
      for (int i = 0; i < program.size(); i++) {
        double end = truth.getOrDefault(program.get(i), Double.NaN);
        assertEquals(end, run.end(rank, i), DUST);
        assertEquals(seconds(program.get(i), times), end - run.start(rank, i), DUST);
        last = Math.max(last, end);
        work += seconds(program.get(i), times);
      }
    }
    assertEquals(last, run.makespan(), DUST);
    assertEquals(1 - work / schedule.ranks() / last, run.idleShare(), DUST);
  }

  @Test
  void closedFormsOfPlainPipelines() {
    for (int stages = 1; stages <= 16; stages++) {
      for (int microBatches : new int[] {1, 2, 5, 16, 64}) {
        OpTimes unit = OpTimes.equal(stages, 1, 1, 1, 0);
        double makespan = 3.0 * (microBatches + stages - 1);
        Run early = StaticSimulator.run(OneForwardOneBackward.of(stages, microBatches), unit);
        Run gpipe = StaticSimulator.run(GPipe.of(stages, microBatches), unit);
        assertEquals(makespan, early.makespan());
        assertEquals(makespan, gpipe.makespan());
        assertEquals((stages - 1.0) / (microBatches + stages - 1), early.idleShare(), DUST);
        assertEquals(Math.min(stages, microBatches), early.peakActivations()[0]);
        assertEquals(microBatches, gpipe.peakActivations()[0]);
      }
    }
  }

  @Test
  void opsThatRunTogetherTakeTheirSumOrTheLongest() {
    Program program = new Program().add(Pass.FORWARD, 0, 0).add(Pass.FORWARD, 0, 1).join();
    program.add(Pass.BACKWARD, 0, 0).add(Pass.BACKWARD, 0, 1);
    Schedule schedule =
        new Schedule("pairs", Placement.straight(1), 2, new long[][] {program.packed()});
    OpTimes sum = OpTimes.equal(1, 2, 1.5, 1.5, 0);
    OpTimes longest = sum.withOverlap();
    assertEquals(2 + 5 + 3, StaticSimulator.run(schedule, sum).makespan());
    Run overlapped = StaticSimulator.run(schedule, longest);
    assertEquals(2 + 3 + 3, overlapped.makespan());
    assertEquals(2, overlapped.start(0, 1));
    assertEquals(2, overlapped.start(0, 2));
    assertEquals(0, overlapped.idleShare());
  }

  @Test
  void theLongestSpanIsShorterThanTheMakespanWhereItsRankStartsLater() {
    double[][] starts = {{0, 3}, {1, 4}};
    double[][] ends = {{1, 5}, {2, 9}};
    Run run = Run.recorded(GPipe.of(2, 1), starts, ends, 0, 0);
    assertEquals(9, run.makespan());
    assertEquals(5, run.span(0));
    assertEquals(8, run.longestSpan());
  }

  @Test
  void theSpanOfARankLeavesOutWhatTheNextStepMayFill() {
    Run run = StaticSimulator.run(OneForwardOneBackward.of(2, 2), OpTimes.equal(2, 1, 1, 1, 0));
    assertEquals(1 - 6 / 9.0, run.idleShare(), DUST);
    assertEquals(1 - 6 / 9.0, run.spanIdleShare(), DUST);
    assertArrayEquals(new int[] {2, 1}, run.peakActivations());
  }

  @Test
  void ranksThatWaitForEverAreRefused() {
    Program first = new Program().add(Pass.BACKWARD, 0, 0).add(Pass.FORWARD, 0, 0);
    Schedule schedule =
        new Schedule("stuck", Placement.straight(1), 1, new long[][] {first.packed()});
    OpTimes unit = OpTimes.equal(1, 1, 1, 1, 0);
    assertThrows(IllegalArgumentException.class, () -> StaticSimulator.run(schedule, unit));
  }
}
