package dev.pipewright.solver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.schedule.Diagram;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.check.Validator;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.schedule.search.ZeroBubbleAuto;
import dev.pipewright.sim.StaticSimulator;
import dev.pipewright.solver.ScheduleProblem.Goal;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class OptimalScheduleTest {
  private static final SearchLimit LIMIT = new SearchLimit(600, 10);

  private static ScheduleProblem unit(int ranks, int microBatches) {
    return ScheduleProblem.of(OpTimes.equal(ranks, 1, 1, 1, 0), microBatches);
  }

  /** The proven optimum, after its order has been run and its memory counted. */
  private static double optimum(ScheduleProblem problem) {
    var found = Answers.optimal(OptimalSchedule.of(problem, LIMIT));
    assertEquals("optimal", found.best().name());
    assertEquals(List.of(), Validator.check(found.best()));
    var run = StaticSimulator.run(found.best(), problem.times());
    assertTrue(KnownSchedules.fits(run, problem.cap()));
    assertEquals(found.value(), KnownSchedules.value(run, problem));
    return found.value();
  }

  @Test
  void twoActivationsOnTwoRanks() {
    var found = Answers.optimal(OptimalSchedule.of(unit(2, 3).capped(2), LIMIT));
    assertEquals(
        """
        0 | F0 F1 I0 W0 F2 I1 W1 I2 W2
        1 | F0 I0 F1 I1 W0 F2 I2 W1 W2
        """,
        Diagram.of(found.best()));
    assertEquals("10.0, the optimum", found.toString());
  }

  @ParameterizedTest(name = "{0} ranks, {1} micro-batches")
  @CsvSource({"1, 1", "1, 2", "1, 3", "2, 1", "2, 2", "2, 3", "3, 1", "3, 2"})
  void noOrderOfUnitPassesIsShorter(int ranks, int microBatches) {
    for (int cap : new int[] {1, 2, Integer.MAX_VALUE}) {
      for (Goal goal : Goal.values()) {
        ScheduleProblem split = unit(ranks, microBatches).capped(cap).with(goal);
        assertEquals(EveryOrder.best(split), optimum(split), () -> "split " + cap + goal);
        ScheduleProblem whole = split.whole();
        assertEquals(EveryOrder.best(whole), optimum(whole), () -> "whole " + cap + goal);
      }
    }
  }

  @RepeatedTest(40)
  void noOrderIsShorter(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    int ranks = random.nextInt(1, 4);
    int microBatches = ranks == 3 ? 2 : random.nextInt(1, 4);
    ScheduleProblem problem =
        ScheduleProblem.of(times(random, ranks), microBatches)
            .capped(random.nextInt(1, 4))
            .with(random.nextBoolean() ? Goal.SPAN : Goal.MAKESPAN);
    problem = random.nextInt(3) == 0 ? problem.whole() : problem;
    assertEquals(EveryOrder.best(problem), optimum(problem));
  }

  @RepeatedTest(20)
  void noOrderIsShorterWithSeveralStagesOnARank(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    Placement placement =
        switch (random.nextInt(3)) {
          case 0 -> Placement.waves(2, 2);
          case 1 -> Placement.looped(2, 2);
          default -> Placement.bothWays(2);
        };
    boolean split = random.nextBoolean();
    ScheduleProblem problem =
        ScheduleProblem.on(placement, times(random, 4), split ? 1 : 2).capped(random.nextInt(2, 5));
    ScheduleProblem either = split ? problem : problem.whole();
    assertEquals(EveryOrder.best(either), optimum(either));
  }

  private static OpTimes times(SplittableRandom random, int stages) {
    double[][] seconds = new double[3][stages];
    for (double[] pass : seconds) {
      for (int stage = 0; stage < stages; stage++) {
        pass[stage] = random.nextInt(1, 4);
      }
    }
    return OpTimes.of(seconds[0], seconds[1], seconds[2], random.nextInt(3));
  }

  @ParameterizedTest(name = "{0} ranks, {1} micro-batches")
  @CsvSource({"1, 8", "2, 8", "3, 3", "3, 8", "4, 4", "4, 7", "4, 8"})
  void unitPassesAreProvenUnderAnyCap(int ranks, int microBatches) {
    double before = Double.POSITIVE_INFINITY;
    for (int cap = 1; cap <= microBatches; cap++) {
      ScheduleProblem problem = unit(ranks, microBatches).capped(cap);
      double makespan = optimum(problem);
      assertTrue(makespan <= before, "more memory is never slower");
      assertTrue(makespan <= optimum(problem.whole()), "halves are never slower");
      double span = optimum(problem.with(Goal.SPAN));
      assertTrue(3 * microBatches <= span && span <= makespan);
      before = makespan;
    }
    assertEquals(3 * microBatches + ranks - 1, before); // of ZB-H1, ZB-H2
    assertEquals(3 * ranks * microBatches, optimum(unit(ranks, microBatches).capped(1).whole()));
  }

  @ParameterizedTest(name = "4 ranks, {0} micro-batches")
  @ValueSource(ints = {3, 5, 8})
  void automaticZeroBubblesAreOptimalWithUnitPasses(int microBatches) {
    for (int cap = 1; cap <= 4; cap++) {
      ScheduleProblem problem = unit(4, microBatches).capped(cap);
      double[] caps = {cap, cap, cap, cap};
      Schedule searched = ZeroBubbleAuto.of(microBatches, problem.times(), caps);
      assertEquals(
          optimum(problem),
          StaticSimulator.run(searched, problem.times()).makespan(),
          "cap " + cap);
    }
  }

  @Test
  void aRankThatHoldsTooFewStagesCannotRun() {
    OpTimes times = OpTimes.equal(4, 1, 1, 1, 0);
    var problem = ScheduleProblem.on(Placement.waves(2, 2), times, 2).capped(1);
    assertInstanceOf(SolverAnswer.Impossible.class, OptimalSchedule.of(problem, LIMIT));
  }

  @Test
  void fractionsAreExact() {
    OpTimes times = OpTimes.equal(3, 1.0 / 3, 0.1, 0.7 / 3, 0.05);
    OpTimes scaled = OpTimes.equal(3, 20, 6, 14, 3);
    double sixty = optimum(ScheduleProblem.of(scaled, 5).capped(3));
    assertEquals(sixty / 60, optimum(ScheduleProblem.of(times, 5).capped(3)), 1e-12);
  }

  @Test
  void refusesTimesWithoutACommonTick() {
    OpTimes times = OpTimes.equal(2, Math.PI, Math.E, Math.sqrt(2), 0);
    var error =
        assertThrows(
            IllegalArgumentException.class,
            () -> OptimalSchedule.of(ScheduleProblem.of(times, 2), LIMIT));
    assertEquals(
        "an exact search needs amounts that are multiples of one tick, at most 2^40 of them in all;"
            + " round them, for example to whole microseconds or bytes: amounts="
            + "[3.141592653589793, 2.718281828459045, 1.4142135623730951]",
        error.getMessage());
  }

  @Test
  void aSearchCutShortSaysSo() {
    OpTimes times =
        OpTimes.of(
            new double[] {9, 4, 8, 3, 7, 5},
            new double[] {3, 9, 5, 8, 6, 4},
            new double[] {5, 8, 3, 9, 4, 7},
            2);
    var problem = ScheduleProblem.of(times, 20).capped(3);
    var found = Answers.found(OptimalSchedule.of(problem, new SearchLimit(600, 0.01)));
    assertTrue(!found.optimal() && found.bound() < found.value(), found::toString);
    var again = Answers.found(OptimalSchedule.of(problem, new SearchLimit(600, 0.01)));
    assertEquals(Diagram.of(found.best()), Diagram.of(again.best()));
  }
}
