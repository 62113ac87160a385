package dev.pipewright.solver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.periodic.BestPattern;
import dev.pipewright.schedule.periodic.KPeriodic;
import dev.pipewright.schedule.periodic.OneForwardOneBackwardStar;
import dev.pipewright.schedule.periodic.Pattern;
import dev.pipewright.schedule.periodic.PatternCheck;
import dev.pipewright.schedule.periodic.StageLoad;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalDouble;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Execution(ExecutionMode.CONCURRENT) // a third of the module's time
class OptimalPatternTest {
  private static final SearchLimit LIMIT = new SearchLimit(600, 60);

  /** The proven optimum, if there is one, after the pattern has been checked. */
  private static OptionalDouble optimum(PatternProblem problem) {
    SolverAnswer<Pattern> answer = OptimalPattern.of(problem, LIMIT);
    if (answer instanceof SolverAnswer.Impossible<Pattern>) {
      return OptionalDouble.empty();
    }
    var found = Answers.optimal(answer);
    assertEquals(found.value(), found.best().period());
    check(found.best(), problem);
    return OptionalDouble.of(found.value());
  }

  private static void check(Pattern pattern, PatternProblem problem) {
    assertEquals(List.of(), PatternCheck.check(pattern), pattern::toString);
    assertEquals(problem.batches(), pattern.batches());
    double[] bytes = pattern.bytes();
    for (int rank = 0; rank < bytes.length; rank++) {
      assertTrue(bytes[rank] <= problem.capacityBytes()[rank], pattern::toString);
    }
  }

  private static List<StageLoad> loads(SplittableRandom random, int stages, int longest) {
    List<StageLoad> loads = new ArrayList<>();
    for (int stage = 0; stage < stages; stage++) {
      loads.add(
          new StageLoad(
              random.nextInt(1, longest + 1),
              random.nextInt(1, longest + 1),
              random.nextInt(4),
              random.nextInt(4)));
    }
    return loads;
  }

  private static double[] capacities(SplittableRandom random, int ranks, int least, int most) {
    return random.ints(ranks, least, most).asDoubleStream().toArray();
  }

  @RepeatedTest(60)
  void noPatternIsShorterHoweverStagesArePlaced(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    boolean twice = random.nextBoolean();
    int count = twice ? 2 : random.nextInt(2, 5);
    int ranks = random.nextInt(1, 3);
    int[] rankOf = random.ints(count, 0, ranks).toArray();
    PatternProblem problem =
        PatternProblem.of(loads(random, count, 2), twice ? 2 : 1)
            .on(Placement.of(ranks, 1, rankOf), capacities(random, ranks, 4, 14));
    OptionalDouble best = optimum(problem);
    if (best.isPresent()) {
      int period = (int) Math.ceil(best.getAsDouble() - 1e-9);
      assertTrue(EveryPattern.exists(problem, period));
      assertFalse(EveryPattern.exists(problem, period - 1));
    } else {
      int alone = 4 * count * problem.batches(); // long enough for one batch after the other
      assertFalse(EveryPattern.exists(problem, Math.min(alone, twice ? 8 : 10)));
    }
  }

  /** Theorem 3. */
  @RepeatedTest(20)
  void noPatternOfOneBatchHoldsFewerThanItsStar(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    List<StageLoad> stages = loads(random, random.nextInt(4, 9), 6);
    double slowest = stages.stream().mapToDouble(StageLoad::seconds).max().orElseThrow();
    double period = slowest + random.nextInt(15);
    int[] groups = OneForwardOneBackwardStar.groups(stages, period);
    for (int stage = 0; stage < groups.length; stage++) {
      var problem = PatternProblem.of(stages, 1);
      var found = Answers.optimal(OptimalPattern.fewestActivations(problem, period, stage, LIMIT));
      assertEquals(groups[stage], found.value());
      check(found.best(), problem);
      assertEquals(groups[stage], found.best().concurrentActivations()[stage]);
    }
  }

  /** Theorem 4: k + 1 layers of weights 1, 1, 2, … k and unit activations, memory k + 1. */
  @ParameterizedTest(name = "k = {0}")
  @CsvSource({"1", "2", "3", "4"})
  void onlyKBatchesReachTheThroughputOfTheoremFour(int k) {
    List<StageLoad> stages = new ArrayList<>(List.of(new StageLoad(1, 1, 1, 1)));
    for (int layer = 1; layer <= k; layer++) {
      stages.add(new StageLoad(1, 1, layer, 1));
    }
    double[] capacity = new double[k + 1];
    Arrays.fill(capacity, k + 1);
    for (int j = 1; j <= k; j++) {
      double period = optimum(PatternProblem.of(stages, j).within(capacity)).orElseThrow();
      assertEquals(2 * (1 + 1.0 / j), period / j, "j = " + j);
    }
    assertEquals(2 * (1 + 1.0 / k), KPeriodic.of(stages, k).normalisedPeriod(), 1e-12);
  }

  @RepeatedTest(60)
  void theStarIsTheBestPatternOfOneBatch(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    List<StageLoad> stages = loads(random, random.nextInt(2, 8), 8);
    double[] capacity = capacities(random, stages.size(), 6, 18);
    assertEquals(
        OneForwardOneBackwardStar.bestPeriod(stages, capacity),
        optimum(PatternProblem.of(stages, 1).within(capacity)));
  }

  @RepeatedTest(20)
  void noBestPatternIsShorter(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    List<StageLoad> stages = loads(random, random.nextInt(3, 6), 3);
    double[] capacity = capacities(random, stages.size(), 6, 18);
    var known = BestPattern.of(stages, capacity);
    var problem = PatternProblem.of(stages, known.map(Pattern::batches).orElse(1));
    OptionalDouble best = optimum(problem.within(capacity));
    assertEquals(known.isPresent(), best.isPresent());
    known.ifPresent(pattern -> assertTrue(best.getAsDouble() <= pattern.period() * (1 + 1e-9)));
  }

  @Test
  void onlyPlacesApartHaveRoomForWeightsOneTwoOne() { // lemma 2
    List<StageLoad> stages =
        List.of(new StageLoad(1, 1, 1, 0), new StageLoad(2, 2, 2, 0), new StageLoad(1, 1, 1, 0));
    PatternProblem problem = PatternProblem.of(stages, 1);
    for (int[] contiguous : new int[][] {{0, 0, 0}, {0, 0, 1}, {0, 1, 1}}) {
      var tried = problem.on(Placement.of(2, 1, contiguous), 2, 2);
      assertInstanceOf(SolverAnswer.Impossible.class, OptimalPattern.of(tried, LIMIT));
    }
    PatternProblem apart = problem.on(Placement.of(2, 1, 0, 1, 0), 2, 2);
    assertEquals(OptionalDouble.of(4), optimum(apart)); // no rank is ever idle: §6.1
  }

  /** Theorem 2: a fixed allocation is as hard to schedule as numbers are to part in threes. */
  @ParameterizedTest(name = "{0}: {1} threes of {2}, {3} batches")
  @CsvSource({
    "4 4 5 4 4 5, 2, 13, 1, true",
    "4 4 4 4 4 6, 2, 13, 1, false", // even numbers, odd sum
    "4 5 6 6 5 4, 2, 15, 1, true",
    "4 4 4 6 6 6, 2, 15, 1, false",
    "4 4 5 4 4 5, 2, 13, 2, true",
    "4 4 5 4 5 4 4 5 4, 3, 13, 1, true",
    "6 4 4 4 4 4 4 4 5, 3, 13, 1, false", // only 4 + 4 + 5 makes 13
  })
  void aPatternWithoutAPauseIsAThreePartition(
      String numbers, int parts, int sum, int batches, boolean parted) {
    double[] seconds = Arrays.stream(numbers.split(" ")).mapToDouble(Double::parseDouble).toArray();
    List<StageLoad> stages = new ArrayList<>();
    int[] rankOf = new int[6 * parts];
    for (int layer = 0; layer < 6 * parts; layer++) {
      boolean number = parts <= layer && layer < 4 * parts;
      double activation = layer < 4 * parts ? 0 : 1;
      stages.add(new StageLoad(number ? seconds[layer - parts] : sum, 0, 0, activation));
      rankOf[layer] = number || (layer >= 4 * parts && layer % 2 == 1) ? 0 : 1;
    }
    var problem = PatternProblem.of(stages, batches).on(Placement.of(2, 1, rankOf), parts, parts);
    var found = Answers.found(OptimalPattern.of(problem, new SearchLimit(600, parted ? 60 : 4)));
    check(found.best(), problem);
    double target = 2.0 * parts * sum * batches;
    assertTrue(parted ? found.value() == target : found.bound() > target, found::toString);
  }
}
