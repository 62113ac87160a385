package dev.pipewright.planner.madpipe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.planner.Planning.LowerBound;
import dev.pipewright.planner.SearchStoppedException;
import dev.pipewright.planner.madpipe.PlacedPattern.Placed;
import dev.pipewright.schedule.periodic.Discipline.Star;
import dev.pipewright.schedule.periodic.PatternCheck;
import dev.pipewright.schedule.periodic.StageLoad;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PeriodicPlannerTest {
  private static PeriodicPlanning plan(PeriodicProblem problem) {
    PeriodicPlanning planning = PeriodicPlanner.plan(problem, () -> false);
    assertTrue(planning.complete());
    planning.best().ifPresent(plan -> check(problem, plan));
    planning.plain().ifPresent(plan -> check(problem, plan));
    return planning;
  }

  /** A plan runs, within memory, and covers each layer once. */
  private static void check(PeriodicProblem problem, PlacedPattern plan) {
    assertEquals(List.of(), PatternCheck.check(plan.pattern()), plan::toString);
    for (double bytes : plan.bytes(problem.devices())) {
      assertTrue(bytes <= problem.capacityBytes(), plan::toString);
    }
    int next = 0;
    for (int i = 0; i < plan.stages().size(); i++) {
      Placed stage = plan.stages().get(i);
      assertEquals(next, stage.first());
      next = stage.end();
      StageLoad load = plan.pattern().stages().get(2 * i);
      assertEquals(problem.chain().seconds(stage.first(), stage.end()), load.seconds(), 1e-12);
    }
    assertEquals(problem.chain().layers(), next);
    assertEquals(2 * plan.stages().size() - 1, plan.pattern().stages().size());
  }

  /** Also within the first answer, where that takes long. */
  @Test
  void aLargeSearchThatIsStoppedAtOnceHasNoAnswer() {
    double[] layers = new double[2000];
    Arrays.fill(layers, 1);
    PeriodicProblem problem = new PeriodicProblem(Chains.of(layers), 16, Double.POSITIVE_INFINITY);
    assertThrows(SearchStoppedException.class, () -> PeriodicPlanner.plan(problem, () -> true));
  }

  @Test
  void weightsOneTwoOneFitOnTwoDevicesOnlyApart() { // lemma 2
    PeriodicPlanning planning = plan(new PeriodicProblem(Chains.of(1, 1, 2, 2, 1, 1), 2, 2));
    assertTrue(planning.contiguous().isEmpty());
    PlacedPattern plan = planning.best().orElseThrow();
    assertEquals(2, plan.secondsPerBatch());
    assertFalse(plan.contiguous());
    assertEquals("0: 0–0 2–2, 1: 1–1", plan.toString());
  }

  @ParameterizedTest(name = "k = {0}")
  @ValueSource(ints = {2, 3, 4, 6, 8})
  void neighboursApartHalveThePeriodOfTheoremFive(int k) {
    var problem = new PeriodicProblem(Chains.theoremFive(k), 2 * k + 1, Double.POSITIVE_INFINITY);
    PeriodicPlanning planning = plan(problem);
    double whole = 2 * k + 1;
    assertEquals(k * whole, planning.best().orElseThrow().secondsPerBatch(), 1e-9);
    assertEquals(0, planning.gap(), 1e-12);
    assertTrue(planning.contiguous().orElseThrow().secondsPerBatch() > (2 * k - 1) * whole);
    assertTrue(planning.contiguousRatio() >= 2 - 1.0 / k);
  }

  @ParameterizedTest(name = "k = {0}")
  @ValueSource(ints = {3, 4, 6, 8, 12})
  void memoryForcesNeighboursApartInTheoremSix(int k) {
    PeriodicPlanning planning = plan(new PeriodicProblem(Chains.theoremSix(k), k + 2, k + 1));
    assertEquals(k, planning.best().orElseThrow().secondsPerBatch(), 1e-9);
    assertEquals(k * (k - 1), planning.contiguous().orElseThrow().secondsPerBatch());
    assertEquals(k - 1, planning.contiguousRatio(), 1e-9);
  }

  @RepeatedTest(200)
  void everyKindRunsWithinMemoryAndNoneIsWorseThanAnEarlier(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    LayerChain chain = Chains.random(random, 8);
    var problem = new PeriodicProblem(chain, random.nextInt(1, 5), random.nextInt(3, 20));
    PeriodicPlanning planning = plan(problem);
    double best = Double.POSITIVE_INFINITY;
    for (var kind : List.of(planning.plain(), planning.star(), planning.dropping())) {
      kind.ifPresent(plan -> check(problem, plan));
    }
    for (Optional<PlacedPattern> kind :
        List.of(planning.plain(), planning.star(), planning.dropping(), planning.general())) {
      if (kind.isPresent()) {
        assertTrue(kind.get().secondsPerBatch() <= best);
        best = kind.get().secondsPerBatch();
      }
    }
    for (LowerBound bound : planning.bounds()) {
      assertTrue(bound.value() <= best * (1 + 1e-9), bound::toString);
    }
  }

  /** Where every device has one stage the beam holds no more than 1F1B*, so finds its period. */
  @RepeatedTest(200)
  void theBeamFindsTheBestPatternOfStraightPipelines(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    LayerChain chain = Chains.random(random, 8);
    var problem = new PeriodicProblem(chain, random.nextInt(1, 6), random.nextInt(3, 20));
    Optional<PlacedPattern> star = ContiguousPlanner.plan(problem, new Star());
    if (star.isEmpty()) {
      return;
    }
    int[] devices = new int[chain.layers()];
    for (Placed stage : star.get().stages()) {
      java.util.Arrays.fill(devices, stage.first(), stage.end(), stage.device());
    }
    Allocation allocation = Allocation.of(problem, devices);
    PlacedPattern plan =
        PatternSearch.plan(allocation, new Star(), Double.POSITIVE_INFINITY, () -> false)
            .orElseThrow();
    assertEquals(star.get().secondsPerBatch(), plan.secondsPerBatch(), 1e-9);
  }

  @Test
  void theLaterASearchIsStoppedTheBetterItsPlan() {
    var problem = new PeriodicProblem(Chains.theoremFive(3), 7, Double.POSITIVE_INFINITY);
    double whole = plan(problem).best().orElseThrow().secondsPerBatch();
    List<Double> seconds = new ArrayList<>();
    boolean complete = false;
    for (int asked = 0; !complete; asked++) {
      AtomicInteger left = new AtomicInteger(asked);
      PeriodicPlanning planning = PeriodicPlanner.plan(problem, () -> left.getAndDecrement() <= 0);
      complete = planning.complete();
      seconds.add(planning.best().orElseThrow().secondsPerBatch());
      assertTrue(planning.best().orElseThrow().secondsPerBatch() == whole || planning.gap() > 0);
    }
    for (int i = 1; i < seconds.size(); i++) {
      assertTrue(seconds.get(i) <= seconds.get(i - 1), "asked " + i + " times: " + seconds);
    }
    assertTrue(seconds.contains(36.0), "the contiguous optimum comes first: " + seconds);
    assertTrue(seconds.get(0) > 36);
    assertEquals(whole, seconds.getLast());
  }

  @Test
  void memoryThatNoLayerFitsIntoIsABoundWithoutEnd() {
    var problem = new PeriodicProblem(Chains.of(1, 5, 1, 1), 2, 4);
    PeriodicPlanning planning = plan(problem);
    assertTrue(planning.best().isEmpty());
    assertEquals(Double.POSITIVE_INFINITY, planning.lowerBound().value());
  }
}
