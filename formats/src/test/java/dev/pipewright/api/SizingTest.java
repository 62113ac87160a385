package dev.pipewright.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.api.Sizing.Trial;
import dev.pipewright.planner.Objective;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.SearchStoppedException;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

/** Parts of clusters against all of them, each asked about as a cluster of its own name. */
class SizingTest {
  private static final List<String> SIZES = List.of("1x1", "1x2", "1x4", "2x4", "3x4");

  /** A problem with odd batches and little memory, so that sizes are not in order. */
  private record Instance(String network, int batch, String memory, String planner) {
    static Instance of(SplittableRandom random) {
      int layers = random.nextInt(2, 9);
      int hidden = 64 * random.nextInt(1, 9);
      double parameters = (double) layers * hidden * hidden;
      double share = 0.1 + 1.5 * random.nextDouble() * random.nextDouble();
      return new Instance(
          "mlp:layers=" + layers + ",hidden=" + hidden,
          random.nextInt(1, 25),
          Long.toString(Math.round(16 * parameters * share)),
          random.nextInt(3) == 0 ? "auto" : "dapple");
    }

    Problem on(String size) {
      return Problem.of(network, "dapple-a:" + size, batch).withMemory(memory);
    }

    Planned planned(String size) {
      return Planners.plan(on(size), planner);
    }
  }

  private static boolean does(Planned planned, OptionalDouble target) {
    return planned.isFound()
        && planned.planning().best().orElseThrow().seconds() <= target.orElse(Double.MAX_VALUE);
  }

  @RepeatedTest(25)
  void theSmallestIsThatOfATrialOfAllSizes(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    Instance instance = Instance.of(random);
    List<Planned> all = SIZES.stream().map(instance::planned).toList();
    double fastest =
        all.stream()
            .filter(Planned::isFound)
            .mapToDouble(planned -> planned.planning().best().orElseThrow().seconds())
            .min()
            .orElse(1);
    OptionalDouble target =
        random.nextBoolean()
            ? OptionalDouble.empty()
            : OptionalDouble.of(fastest * (0.9 + 2 * random.nextDouble()));
    Optional<Integer> expected =
        all.stream()
            .filter(planned -> does(planned, target))
            .map(planned -> planned.costed().workload().cluster().size())
            .findFirst();
    Sizing sizing = Sizing.smallest(instance.on("3x4"), instance.planner(), target, () -> false);
    assertEquals(expected, sizing.chosen().map(Trial::devices), instance::toString);
    for (int i = 0; i < sizing.trials().size(); i++) {
      Trial trial = sizing.trials().get(i);
      assertEquals(does(all.get(i), target), trial.succeeds(), instance::toString);
      assertEquals(trial.succeeds(), trial.failure().isEmpty());
    }
    if (expected.isPresent()) {
      Trial chosen = sizing.chosen().orElseThrow();
      Planned same = all.get(sizing.trials().size() - 1);
      assertEquals(same.plan(), chosen.planned().orElseThrow().plan());
      assertEquals(same.step().seconds(), chosen.stepSeconds().orElseThrow(), 1e-12);
    }
  }

  @RepeatedTest(25)
  void theCheapestIsThatOfATrialOfAllSizes(RepetitionInfo seed) {
    Instance instance = Instance.of(new SplittableRandom(1000 + seed.getCurrentRepetition()));
    double least = Double.POSITIVE_INFINITY;
    for (String size : SIZES) {
      for (Candidate plan : instance.planned(size).planning().candidates()) {
        assertTrue(plan.estimate().fits(), instance::toString);
        least = Math.min(least, plan.plan().devices() * plan.seconds());
      }
    }
    Sizing sizing = Sizing.cheapest(instance.on("3x4"), instance.planner(), () -> false);
    assertEquals(Double.isFinite(least), sizing.chosen().isPresent(), instance::toString);
    if (sizing.chosen().isPresent()) {
      Planned planned = sizing.chosen().get().planned().orElseThrow();
      assertEquals(Objective.COST, planned.planning().objective());
      assertEquals(least, planned.planning().value(), 1e-12 * least, instance::toString);
      Candidate best = planned.planning().best().orElseThrow();
      double estimate = best.plan().devices() * best.estimate().stepSeconds();
      double bound = planned.planning().lowerBound().value();
      assertTrue(0 < bound && bound <= estimate * (1 + 1e-9), bound + " above " + estimate);
    }
  }

  @Test
  void sizesHaveADeviceForEachStage() {
    Problem problem = Problem.of("bert-48", "dapple-a:2x8", 8).withStages(3);
    Sizing sizing = Sizing.smallest(problem, "straight", OptionalDouble.empty(), () -> false);
    assertEquals(4, sizing.chosen().orElseThrow().devices());
    assertFalse(sizing.trials().stream().anyMatch(trial -> trial.devices() < 3));
  }

  /** A plan of a part is one of the whole cluster, and takes as long there. */
  @Test
  void thePlanOfAPartIsOneOfTheWhole() {
    Problem problem = Problem.of("bert-48", "dapple-a:2x8", 64);
    for (int devices : List.of(2, 4, 8)) {
      Planned part = Planners.plan(problem.onFirst(devices), "dapple");
      Planned whole = Oracles.evaluate(problem, part.plan());
      assertEquals(part.estimatedSeconds(), whole.estimatedSeconds(), 1e-9);
      assertEquals(part.step().seconds(), whole.step().seconds(), 1e-9);
    }
  }

  /** Where devices are nearly always busy, bounds are close to what plans reach. */
  @Test
  void boundsHoldWhereTheyAreTight() {
    Problem problem = Problem.of("bert-48", "dapple-a:1x8", 64);
    for (int devices : List.of(1, 2, 4, 8)) {
      double step = Planners.plan(problem.onFirst(devices), "dapple").step().seconds();
      OptionalDouble target = OptionalDouble.of(step * 1.0001);
      Sizing sizing = Sizing.smallest(problem, "dapple", target, () -> false);
      assertEquals(devices, sizing.chosen().orElseThrow().devices());
    }
    Planned cheapest =
        Sizing.cheapest(problem, "dapple", () -> false).chosen().orElseThrow().planned().get();
    double bound = cheapest.planning().lowerBound().value();
    double value = cheapest.planning().value();
    assertTrue(0.7 * value < bound && bound <= value, bound + " for " + value);
  }

  @Test
  void boundsSkipSizesAndTheWholeSaysWhatWouldDo() {
    Problem problem = Problem.of("bert-48", "dapple-a:2x4", 64);
    Sizing slow = Sizing.smallest(problem, "dapple", OptionalDouble.of(1e-3), () -> false);
    assertEquals(Optional.empty(), slow.chosen());
    assertTrue(slow.trials().get(0).planned().isEmpty());
    assertTrue(slow.trials().get(0).failure().contains("work / devices"));
    assertTrue(slow.nextSmaller().orElseThrow().failure().startsWith("its fastest step takes "));
    Sizing large =
        Sizing.smallest(problem.withMemory("500MB"), "dapple", OptionalDouble.empty(), () -> false);
    assertTrue(large.trials().get(0).failure().startsWith("parameters, gradients and "));
    assertTrue(large.nextSmaller().orElseThrow().failure().startsWith("nothing fits: "));
  }

  @Test
  void aStoppedSearchHasNoAnswerOrTheCheapestSoFar() {
    Problem problem = Problem.of("bert-48", "dapple-a:2x4", 64);
    Problem tight = problem.withMemory("1GB");
    assertThrows(
        SearchStoppedException.class,
        () -> Sizing.smallest(tight, "dapple", OptionalDouble.empty(), () -> true));
    Sizing first = Sizing.cheapest(problem, "dapple", () -> true);
    assertEquals(1, first.trials().size());
    assertEquals(1, first.chosen().orElseThrow().devices());
  }
}
