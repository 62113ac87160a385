package dev.pipewright.solver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.planner.Planning.LowerBound;
import dev.pipewright.planner.madpipe.LayerChain;
import dev.pipewright.planner.madpipe.PeriodicPlanner;
import dev.pipewright.planner.madpipe.PeriodicPlanning;
import dev.pipewright.planner.madpipe.PeriodicProblem;
import dev.pipewright.planner.madpipe.PlacedPattern;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.periodic.Pattern;
import dev.pipewright.schedule.periodic.PatternCheck;
import dev.pipewright.schedule.periodic.StageLoad;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

/** What the periodic planners find against the optimum over all allocations and patterns. */
class PlannedAllocationTest {
  private static final SearchLimit LIMIT = new SearchLimit(600, 60);

  private static AllocationProblem random(int seed, int most) {
    var random = new SplittableRandom(seed);
    List<StageLoad> layers = new ArrayList<>();
    int count = random.nextInt(1, most + 1);
    for (int layer = 0; layer < count; layer++) {
      layers.add(
          new StageLoad(
              random.nextInt(1, 4), random.nextInt(1, 4), random.nextInt(3), random.nextInt(3)));
    }
    List<Double> cuts = new ArrayList<>();
    for (int cut = 1; cut < count; cut++) {
      cuts.add((double) random.nextInt(3));
    }
    return new AllocationProblem(layers, random.nextInt(1, 4), random.nextInt(3, 12), 1, cuts);
  }

  private static double optimum(AllocationProblem problem) {
    SolverAnswer<Pattern> answer = OptimalAllocation.of(problem, LIMIT);
    if (answer instanceof SolverAnswer.Impossible<Pattern>) {
      return Double.POSITIVE_INFINITY;
    }
    Pattern pattern = Answers.optimal(answer).best();
    assertEquals(List.of(), PatternCheck.check(pattern), pattern::toString);
    for (double bytes : pattern.bytes()) {
      assertTrue(bytes <= problem.capacityBytes(), pattern::toString);
    }
    return pattern.period();
  }

  private static PeriodicPlanning planned(AllocationProblem problem) {
    double[] cuts = problem.secondsOfCut().stream().mapToDouble(seconds -> seconds).toArray();
    LayerChain chain = LayerChain.of(problem.layers(), cuts);
    return PeriodicPlanner.plan(
        new PeriodicProblem(chain, problem.ranks(), problem.capacityBytes()), () -> false);
  }

  /** Of patterns of one batch; those that drop batches may be faster. */
  @RepeatedTest(60)
  void noPlanOfOneBatchIsFasterThanTheOptimumAndNoBoundAboveIt(RepetitionInfo seed) {
    AllocationProblem problem = random(seed.getCurrentRepetition(), 5);
    double optimum = optimum(problem);
    PeriodicPlanning planning = planned(problem);
    for (var kind : List.of(planning.star(), planning.general())) {
      kind.filter(plan -> plan.pattern().batches() == 1)
          .ifPresent(plan -> assertTrue(plan.secondsPerBatch() >= optimum * (1 - 1e-9)));
    }
    for (LowerBound bound : planning.bounds()) {
      assertTrue(bound.value() <= optimum * (1 + 1e-9), bound::toString);
    }
  }

  /** The optimum over all sets of layers that run again, which needs no memory for that. */
  @RepeatedTest(20)
  void noPlanOfWhichLayersRunAgainIsFasterThanTheOptimum(RepetitionInfo seed) {
    AllocationProblem problem = random(200 + seed.getCurrentRepetition(), 4);
    double least = Double.POSITIVE_INFINITY;
    for (int again = 0; again < 1 << problem.layers().size(); again++) {
      List<StageLoad> layers = new ArrayList<>(problem.layers());
      for (int layer = 0; layer < layers.size(); layer++) {
        StageLoad kept = layers.get(layer);
        if ((again >> layer & 1) != 0) {
          double backward = kept.backwardSeconds() + kept.forwardSeconds();
          layers.set(layer, new StageLoad(kept.forwardSeconds(), backward, kept.stateBytes(), 0));
        }
      }
      var other =
          new AllocationProblem(
              layers, problem.ranks(), problem.capacityBytes(), 1, problem.secondsOfCut());
      least = Math.min(least, optimum(other));
    }
    double[] cuts = problem.secondsOfCut().stream().mapToDouble(seconds -> seconds).toArray();
    LayerChain chain = LayerChain.of(problem.layers(), cuts);
    var asked = new PeriodicProblem(chain, problem.ranks(), problem.capacityBytes());
    for (Recomputation kind : List.of(Recomputation.SELECTIVE, Recomputation.ALWAYS)) {
      PeriodicPlanning planning = PeriodicPlanner.plan(asked.recomputing(kind), () -> false);
      for (var plan : List.of(planning.star(), planning.general())) {
        double optimum = least;
        plan.filter(one -> one.pattern().batches() == 1)
            .ifPresent(one -> assertTrue(one.secondsPerBatch() >= optimum * (1 - 1e-9)));
      }
    }
  }

  /** Lemma 2 with transfers: the rank with two layers is the dynamic program's special device. */
  @Test
  void theSpecialDeviceOfTheOptimumIsFound() {
    List<StageLoad> layers =
        List.of(new StageLoad(1, 1, 1, 0), new StageLoad(2, 2, 2, 0), new StageLoad(1, 1, 1, 0));
    var problem = new AllocationProblem(layers, 2, 2, 1, List.of(0.5, 0.5));
    PeriodicPlanning planning = planned(problem);
    assertTrue(planning.contiguous().isEmpty());
    assertEquals(optimum(problem), planning.best().orElseThrow().secondsPerBatch(), 1e-9);
  }

  /** A heuristic may miss the optimum; it should not miss it more often than it does. */
  @Test
  void mostOptimaAreFound() {
    int solvable = 0;
    int found = 0;
    for (int seed = 1; seed <= 100; seed++) {
      AllocationProblem problem = random(seed, 5);
      double optimum = optimum(problem);
      if (optimum < Double.POSITIVE_INFINITY) {
        solvable++;
        double best =
            planned(problem).best().map(PlacedPattern::secondsPerBatch).orElse(Double.NaN);
        found += best <= optimum * (1 + 1e-9) ? 1 : 0;
      }
    }
    String share = found + " of " + solvable;
    assertTrue(found >= 82, share);
  }

  /** Every placement, its transfers included, solved by itself. */
  @RepeatedTest(30)
  void noPlacementWithTransfersHasAShorterPattern(RepetitionInfo seed) {
    AllocationProblem problem = random(seed.getCurrentRepetition() + 1000, 4);
    int count = problem.layers().size();
    double best = Double.POSITIVE_INFINITY;
    int[] rankOf = new int[count];
    for (int code = 0; code < Math.pow(problem.ranks(), count); code++) {
      int rest = code;
      for (int layer = 0; layer < count; layer++, rest /= problem.ranks()) {
        rankOf[layer] = rest % problem.ranks();
      }
      best = Math.min(best, placed(problem, rankOf));
    }
    assertEquals(best, optimum(problem), 1e-9);
  }

  private static double placed(AllocationProblem problem, int[] rankOf) {
    int count = rankOf.length;
    double[] cuts = new double[count - 1];
    int[] ranks = new int[2 * count - 1];
    for (int layer = 0; layer < count; layer++) {
      ranks[2 * layer] = rankOf[layer];
      if (layer > 0) {
        ranks[2 * layer - 1] = problem.ranks() + layer - 1;
        boolean apart = rankOf[layer] != rankOf[layer - 1];
        cuts[layer - 1] = apart ? problem.secondsOfCut().get(layer - 1) : 0;
      }
    }
    Placement placement = Placement.of(problem.ranks() + count - 1, 1, ranks);
    double[] capacity = new double[placement.ranks()];
    Arrays.fill(capacity, problem.capacityBytes());
    List<StageLoad> stages = StageLoad.withTransfers(problem.layers(), cuts);
    var fixed = PatternProblem.of(stages, 1).on(placement, capacity);
    return OptimalPattern.of(fixed, LIMIT) instanceof SolverAnswer.Found<Pattern> found
        ? found.value()
        : Double.POSITIVE_INFINITY;
  }
}
