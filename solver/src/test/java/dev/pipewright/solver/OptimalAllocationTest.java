package dev.pipewright.solver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OptimalAllocationTest {
  private static final SearchLimit LIMIT = new SearchLimit(600, 60);

  /** The proven optimum after the pattern has been checked; infinite where there is none. */
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

  private static AllocationProblem unlimited(int ranks, double... costs) {
    List<StageLoad> layers = new ArrayList<>();
    for (double cost : costs) {
      layers.add(new StageLoad(cost / 2, cost / 2, 0, 0));
    }
    return new AllocationProblem(layers, ranks, Double.POSITIVE_INFINITY, 1);
  }

  /** Theorem 1: layers without memory are as hard to place as numbers are to part in threes. */
  @ParameterizedTest(name = "{0}: {1} threes of {2}")
  @CsvSource({
    "4 4 5 4 4 5, 2, 13, true",
    "4 4 4 4 4 6, 2, 13, false", // even numbers, odd sum
    "4 4 4 6 6 6, 2, 15, false",
    "4 4 5 4 5 4 4 5 4, 3, 13, true",
    "6 4 4 4 4 4 4 4 5, 3, 13, false", // only 4 + 4 + 5 makes 13
  })
  void aPeriodWithoutAPauseIsAThreePartition(String numbers, int parts, int sum, boolean parted) {
    double[] costs = Arrays.stream(numbers.split(" ")).mapToDouble(Double::parseDouble).toArray();
    double period = optimum(unlimited(parts, costs));
    assertTrue(parted ? period == sum : period > sum, () -> "period " + period);
  }

  /** Theorem 5 for k = 2: contiguous stages take 2k − 1 at least. */
  @Test
  void neighboursApartHalveThePeriodOfTheoremFive() {
    double e = 0.2;
    assertEquals(2, optimum(unlimited(5, 2, e, 1, e, 2, e, 1, e, 2, e, 1)));
  }

  /** Theorem 6: k layers of weight M − 1, one of M and cost k, k of weight 1 and cost k − 1. */
  @ParameterizedTest(name = "k = {0}")
  @CsvSource({"2", "3"})
  void memoryForcesNeighboursApartInTheoremSix(int k) {
    List<StageLoad> layers = new ArrayList<>();
    int memory = k + 1;
    for (int i = 0; i < k; i++) {
      layers.add(new StageLoad(0.5, 0.5, memory - 1, 0));
    }
    layers.add(new StageLoad(k / 2.0, k / 2.0, memory, 0));
    for (int i = 0; i < k; i++) {
      layers.add(new StageLoad((k - 1) / 2.0, (k - 1) / 2.0, 1, 0));
    }
    assertEquals(k, optimum(new AllocationProblem(layers, k + 2, memory, 1)));
  }

  @Test
  void weightsOneTwoOneFitOnTwoRanksOnly() { // lemma 2
    List<StageLoad> layers =
        List.of(new StageLoad(1, 1, 1, 0), new StageLoad(2, 2, 2, 0), new StageLoad(1, 1, 1, 0));
    assertEquals(4, optimum(new AllocationProblem(layers, 2, 2, 1)));
    var alone = new AllocationProblem(layers, 1, 3, 1);
    assertInstanceOf(SolverAnswer.Impossible.class, OptimalAllocation.of(alone, LIMIT));
  }

  @RepeatedTest(30)
  void noPlacementHasAShorterPattern(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    List<StageLoad> layers = new ArrayList<>();
    int count = random.nextInt(1, 5);
    for (int layer = 0; layer < count; layer++) {
      layers.add(
          new StageLoad(
              random.nextInt(1, 4), random.nextInt(1, 4), random.nextInt(3), random.nextInt(3)));
    }
    var problem =
        new AllocationProblem(
            layers, random.nextInt(1, 4), random.nextInt(3, 10), random.nextInt(1, 3));
    double best = Double.POSITIVE_INFINITY;
    int[] rankOf = new int[count];
    for (int code = 0; code < Math.pow(problem.ranks(), count); code++) {
      int rest = code;
      for (int layer = 0; layer < count; layer++, rest /= problem.ranks()) {
        rankOf[layer] = rest % problem.ranks();
      }
      best = Math.min(best, placed(problem, Placement.of(problem.ranks(), 1, rankOf)));
    }
    assertEquals(best, optimum(problem));
  }

  private static double placed(AllocationProblem problem, Placement placement) {
    double[] capacity = new double[problem.ranks()];
    Arrays.fill(capacity, problem.capacityBytes());
    var fixed = PatternProblem.of(problem.layers(), problem.batches()).on(placement, capacity);
    return OptimalPattern.of(fixed, LIMIT) instanceof SolverAnswer.Found<Pattern> found
        ? found.value()
        : Double.POSITIVE_INFINITY;
  }
}
