package dev.pipewright.planner.catalog;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.PathFormula;
import dev.pipewright.cost.PeakMemory;
import dev.pipewright.cost.PipelineOracle;
import dev.pipewright.cost.Samples;
import dev.pipewright.cost.SimulatedOracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.planner.Objective;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.Request;
import dev.pipewright.planner.recompute.Recomputation;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What planners state of their plans is what the oracles say of them. */
class PlannerCatalogTest {
  private static final int PROBLEMS = 30;
  private static final double ROUNDING = 1e-9;

  static Stream<String> names() {
    return PlannerCatalog.stepPlanners();
  }

  private static Request request(StepPlanner planner) {
    return new Request(
        8,
        OptionalInt.empty(),
        planner.policies(),
        planner.byLayers().orElse(Recomputation.SELECTIVE),
        CostModel.PIPEWRIGHT,
        planner.shape());
  }

  @Test
  void namesAreUnique() {
    List<String> all = PlannerCatalog.names().toList();
    assertEquals(all.size(), Set.copyOf(all).size());
    assertTrue(all.containsAll(names().toList()));
    assertEquals(Optional.empty(), PlannerCatalog.find("dappel"));
  }

  @ParameterizedTest
  @MethodSource("names")
  void everyPlannerStatesWhatTheOraclesSay(String name) {
    StepPlanner planner = PlannerCatalog.steps(name).orElseThrow();
    int found = 0;
    for (int seed = 1; seed <= PROBLEMS; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      StageCosts costs = Samples.costs(random, Samples.chain(random.nextInt(2, 8)), 8);
      Oracle decides = new SimulatedOracle(new PipelineOracle(costs, new PathFormula()));
      if (planner.peaks().isPresent() && costs.size() < costs.workload().cluster().size()) {
        continue; // one stage on each device needs as many layers
      }
      Planning planning = planner.search().plan(costs, request(planner), decides, () -> false);
      for (Candidate candidate : planning.candidates()) {
        Assessment priced = CostModel.PIPEWRIGHT.oracle(costs).assess(candidate.plan());
        same(priced, candidate.estimate(), name + ", seed " + seed);
        candidate.simulated().ifPresent(said -> same(decides.assess(candidate.plan()), said, name));
      }
      assertTrue(
          planning.best().isEmpty()
              || planning.lowerBound().value() <= objective(planning) * (1 + ROUNDING),
          name);
      found += planning.best().isPresent() ? 1 : 0;
    }
    assertTrue(found > PROBLEMS / 4, name + " finds plans: " + found);
  }

  /** What the bound is for: the cost model's step, or the peak. */
  private static double objective(Planning planning) {
    Candidate best = planning.best().orElseThrow();
    return planning.objective() == Objective.STEP_TIME
        ? best.estimate().stepSeconds()
        : best.peakBytes();
  }

  private static void same(Assessment said, Assessment stated, String what) {
    assertEquals(said.stepSeconds(), stated.stepSeconds(), ROUNDING * said.stepSeconds(), what);
    for (int stage = 0; stage < said.memory().size(); stage++) {
      PeakMemory memory = said.memory().get(stage);
      PeakMemory own = stated.memory().get(stage);
      memory
          .categories()
          .forEach((category, bytes) ->
              assertEquals(bytes, own.bytes(category), ROUNDING * memory.peakBytes(), what));
    }
  }

  @ParameterizedTest
  @MethodSource("names")
  void whereNothingFitsTheReasonNamesARemedy(String name) {
    StepPlanner planner = PlannerCatalog.steps(name).orElseThrow();
    StageCosts costs = Samples.costs(new SplittableRandom(3), Samples.chain(5), 8);
    Oracle decides = new SimulatedOracle(new PipelineOracle(costs, new PathFormula()));
    Planning planning = planner.search().plan(costs, request(planner), decides, () -> false);
    String sentence = planner.remedy().sentence(costs, request(planner), planning);
    assertFalse(sentence.isBlank());
    assertTrue(sentence.contains("; ") || sentence.contains(", "), sentence);
  }
}
