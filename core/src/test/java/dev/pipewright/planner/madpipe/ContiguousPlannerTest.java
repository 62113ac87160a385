package dev.pipewright.planner.madpipe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.schedule.periodic.BestPattern;
import dev.pipewright.schedule.periodic.Discipline.Dropping;
import dev.pipewright.schedule.periodic.Discipline.OneForwardOneBackward;
import dev.pipewright.schedule.periodic.Discipline.Star;
import dev.pipewright.schedule.periodic.KPeriodic;
import dev.pipewright.schedule.periodic.OneForwardOneBackwardStar;
import dev.pipewright.schedule.periodic.Pattern;
import dev.pipewright.schedule.periodic.PatternCheck;
import dev.pipewright.schedule.periodic.StageLoad;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class ContiguousPlannerTest {
  private static PeriodicProblem problem(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    LayerChain chain = Chains.random(random, 7);
    return new PeriodicProblem(chain, random.nextInt(1, 5), random.nextInt(3, 20));
  }

  /** Seconds per batch of a plan that runs within memory; infinite where there is none. */
  private static double seconds(PeriodicProblem problem, Optional<PlacedPattern> plan) {
    plan.ifPresent(found -> {
      for (PlacedPattern.Placed placed : found.stages()) {
        placed
            .fewer()
            .ifPresent(fewer ->
                assertEquals(
                    fewer, problem.chain().given(placed.first(), placed.end(), fewer.again())));
      }
      assertEquals(List.of(), PatternCheck.check(found.pattern()));
      assertTrue(found.contiguous());
      for (double bytes : found.bytes(problem.devices())) {
        assertTrue(bytes <= problem.capacityBytes(), found::toString);
      }
    });
    return plan.map(PlacedPattern::secondsPerBatch).orElse(Double.POSITIVE_INFINITY);
  }

  private static double[] capacity(PeriodicProblem problem, List<StageLoad> stages) {
    double[] capacity = new double[stages.size()];
    Arrays.fill(capacity, problem.capacityBytes());
    return capacity;
  }

  @RepeatedTest(200)
  void noCutHasAFasterPatternOfOneBatch(RepetitionInfo seed) {
    PeriodicProblem problem = problem(seed);
    double least =
        EveryCut.least(
            problem,
            stages ->
                OneForwardOneBackwardStar.bestPeriod(stages, capacity(problem, stages))
                    .orElse(Double.POSITIVE_INFINITY));
    assertEquals(least, seconds(problem, ContiguousPlanner.plan(problem, new Star())));
  }

  @RepeatedTest(200)
  void noCutHasAFasterPatternThatDropsBatches(RepetitionInfo seed) {
    PeriodicProblem problem = problem(seed);
    for (int k = 1; k <= 3; k++) {
      int batches = k;
      double least = EveryCut.least(problem, stages -> dropping(problem, stages, batches));
      Optional<PlacedPattern> plan = ContiguousPlanner.plan(problem, new Dropping(batches));
      assertEquals(least, seconds(problem, plan), "k = " + k);
    }
  }

  private static double dropping(PeriodicProblem problem, List<StageLoad> stages, int batches) {
    for (double once : EveryCut.sums(stages)) {
      Pattern pattern = KPeriodic.of(stages, once, batches);
      if (Arrays.stream(pattern.bytes()).allMatch(bytes -> bytes <= problem.capacityBytes())) {
        return pattern.normalisedPeriod();
      }
    }
    return Double.POSITIVE_INFINITY;
  }

  @RepeatedTest(200)
  void noCutAndNoKIsBetterThanTheTradeOff(RepetitionInfo seed) {
    PeriodicProblem problem = problem(seed);
    double least =
        EveryCut.least(
            problem,
            stages ->
                BestPattern.of(stages, capacity(problem, stages))
                    .map(Pattern::normalisedPeriod)
                    .orElse(Double.POSITIVE_INFINITY));
    assertEquals(least, seconds(problem, ContiguousPlanner.plan(problem)), 1e-12 * least);
  }

  @RepeatedTest(200)
  void noCutIsFasterWithAsManyBatchesAsStages(RepetitionInfo seed) {
    PeriodicProblem problem = problem(seed);
    double least = EveryCut.least(problem, stages -> plain(problem, stages));
    Optional<PlacedPattern> plan = ContiguousPlanner.plan(problem, new OneForwardOneBackward());
    assertEquals(least, seconds(problem, plan));
  }

  @RepeatedTest(200)
  void noCutIntoExactlySoManyStagesIsFaster(RepetitionInfo seed) {
    PeriodicProblem any = seed.getCurrentRepetition() % 2 == 0 ? problem(seed) : recomputing(seed);
    for (int stages = 1; stages <= Math.min(any.devices(), any.chain().layers()); stages++) {
      PeriodicProblem problem = any.withStages(OptionalInt.of(stages));
      double star =
          EveryCut.least(
              problem,
              loads ->
                  OneForwardOneBackwardStar.bestPeriod(loads, capacity(problem, loads))
                      .orElse(Double.POSITIVE_INFINITY));
      assertEquals(star, seconds(problem, ContiguousPlanner.plan(problem, new Star())));
      double dropping = EveryCut.least(problem, loads -> dropping(problem, loads, 2));
      assertEquals(dropping, seconds(problem, ContiguousPlanner.plan(problem, new Dropping(2))));
      for (PlacedPattern plan :
          PeriodicPlanner.plan(problem, () -> false).best().stream().toList()) {
        assertEquals(stages, plan.stages().size());
        assertTrue(plan.secondsPerBatch() <= Math.min(star, dropping) * (1 + 1e-12));
      }
    }
  }

  private static double plain(PeriodicProblem problem, List<StageLoad> stages) {
    for (double period : EveryCut.sums(stages)) {
      int[] groups = OneForwardOneBackwardStar.groups(stages, period);
      boolean enough = true;
      for (int stage = 0; stage < groups.length; stage += 2) {
        int behind = (groups.length - stage + 1) / 2;
        StageLoad load = stages.get(stage);
        double bytes = load.stateBytes() + behind * load.activationBytes();
        enough &= groups[stage] <= behind && bytes <= problem.capacityBytes();
      }
      if (enough) {
        return period;
      }
    }
    return Double.POSITIVE_INFINITY;
  }

  private static PeriodicProblem recomputing(RepetitionInfo seed) {
    var random = new SplittableRandom(3000 + seed.getCurrentRepetition());
    LayerChain chain = Chains.withInputs(random, 5);
    Recomputation kind = random.nextInt(5) == 0 ? Recomputation.ALWAYS : Recomputation.SELECTIVE;
    return new PeriodicProblem(chain, random.nextInt(1, 5), random.nextInt(5, 26))
        .recomputing(kind);
  }

  /** Every cut with every choice of layers that run again in each stage. */
  @RepeatedTest(200)
  void noCutAndNoLayersThatRunAgainHaveAFasterPattern(RepetitionInfo seed) {
    PeriodicProblem problem = recomputing(seed);
    double least =
        EveryCut.least(
            problem,
            stages ->
                OneForwardOneBackwardStar.bestPeriod(stages, capacity(problem, stages))
                    .orElse(Double.POSITIVE_INFINITY));
    assertEquals(least, seconds(problem, ContiguousPlanner.plan(problem, new Star())));
    assertTrue(PeriodBounds.all(problem).get(0).value() <= least);
  }

  @RepeatedTest(200)
  void norThatDropsBatchesOrHoldsOneForEachStage(RepetitionInfo seed) {
    PeriodicProblem problem = recomputing(seed);
    double least = EveryCut.least(problem, stages -> dropping(problem, stages, 2));
    assertEquals(least, seconds(problem, ContiguousPlanner.plan(problem, new Dropping(2))));
    double plain = EveryCut.least(problem, stages -> plain(problem, stages));
    Optional<PlacedPattern> found = ContiguousPlanner.plan(problem, new OneForwardOneBackward());
    assertEquals(plain, seconds(problem, found));
  }

  @Test
  void layersThatRunAgainMakeSomePlansPossibleAndSomeFaster() {
    int possible = 0;
    int faster = 0;
    for (int seed = 1; seed <= 200; seed++) {
      var random = new SplittableRandom(3000 + seed);
      LayerChain chain = Chains.withInputs(random, 5);
      PeriodicProblem kept = new PeriodicProblem(chain, 3, random.nextInt(5, 26));
      double before = seconds(kept, ContiguousPlanner.plan(kept, new Star()));
      PeriodicProblem again = kept.recomputing(Recomputation.SELECTIVE);
      double after = seconds(again, ContiguousPlanner.plan(again, new Star()));
      assertTrue(after <= before, "seed " + seed);
      possible += before == Double.POSITIVE_INFINITY && after < before ? 1 : 0;
      faster += before < Double.POSITIVE_INFINITY && after < before ? 1 : 0;
    }
    assertTrue(possible >= 1 && faster >= 30, possible + " and " + faster);
  }

  /** Theorem 4's chain: only k of every k + 1 batches fit, so k-periodic, not star, is best. */
  @Test
  void dropsEveryFourthBatchWhereTheoremFourSaysSo() {
    int k = 3;
    StageLoad[] layers = new StageLoad[k + 1];
    for (int layer = 0; layer <= k; layer++) {
      layers[layer] = new StageLoad(1, 1, Math.max(1, layer), 1);
    }
    var problem = new PeriodicProblem(LayerChain.of(List.of(layers)), k + 1, k + 1);
    PlacedPattern plan = ContiguousPlanner.plan(problem).orElseThrow();
    assertEquals(new Dropping(k), plan.discipline());
    assertEquals(2 * (1 + 1.0 / k), plan.secondsPerBatch(), 1e-12);
    assertEquals(4, seconds(problem, ContiguousPlanner.plan(problem, new Star())));
  }

  @Test
  void slowTransfersKeepLayersTogether() {
    List<StageLoad> layers = List.of(new StageLoad(1, 1, 0, 0), new StageLoad(1, 1, 0, 0));
    var fast = new PeriodicProblem(LayerChain.of(layers, 1), 2, 0);
    var slow = new PeriodicProblem(LayerChain.of(layers, 3), 2, 0);
    assertEquals(2, seconds(fast, ContiguousPlanner.plan(fast, new Star())));
    assertEquals(4, seconds(slow, ContiguousPlanner.plan(slow, new Star())));
    assertEquals(1, ContiguousPlanner.plan(slow, new Star()).orElseThrow().stages().size());
  }
}
