package dev.pipewright.planner;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.PathFormula;
import dev.pipewright.cost.PipelineOracle;
import dev.pipewright.cost.SimulatedOracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.partition.OnePath;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LayoutClimbTest {
  private static final int INSTANCES = 30;
  private static final int BATCH = 8;
  private static final double ROUNDING = 1e-9;

  private static Neighbours neighbours(StageCosts costs, Request request) {
    int runs = OnePath.positions(costs.workload().chain()).length;
    return new Neighbours(
        costs, request, SmallPipelines.choices(request), runs, OptionalInt.empty());
  }

  /** All layouts that neighbours lead to. */
  private static Set<PipelineLayout> reachable(Neighbours neighbours) {
    Set<PipelineLayout> all = new HashSet<>(neighbours.usual());
    List<PipelineLayout> next = List.copyOf(all);
    while (!next.isEmpty()) {
      next = next.stream().flatMap(each -> neighbours.of(each).stream()).filter(all::add).toList();
    }
    return all;
  }

  /** With no limit it prices all layouts, and so finds the best of every grid and schedule. */
  @Test
  void withoutALimitItIsExhaustive() {
    for (int seed = 0; seed < INSTANCES; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      StageCosts free = SmallPipelines.costs(random);
      StageCosts costs = seed % 3 == 0 ? SmallPipelines.tight(free, random) : free;
      Request request = Request.of(BATCH);
      int devices = costs.workload().cluster().size();
      double least =
          SmallPipelines.all(costs, request, SmallPipelines.NONE).stream()
              .filter(cuts -> cuts.fits() && cuts.plan().devices() == devices)
              .mapToDouble(ScheduledCuts::seconds)
              .min()
              .orElse(Double.POSITIVE_INFINITY);
      Oracle estimates = new PipelineOracle(costs, new PathFormula());
      Neighbours neighbours = neighbours(costs, request);
      LayoutClimb climb =
          new LayoutClimb(
              costs, request, neighbours, Double.POSITIVE_INFINITY, estimates, () -> false);
      climb.search(
          neighbours.usual(), List.of(), Integer.MAX_VALUE, Integer.MAX_VALUE, Long.MAX_VALUE);
      double found =
          climb.found(0).stream()
              .mapToDouble(Candidate::seconds)
              .min()
              .orElse(Double.POSITIVE_INFINITY);
      assertTrue(found <= least * (1 + ROUNDING), "seed " + seed + ": " + found + " > " + least);
      assertEquals(reachable(neighbours).size(), climb.priced(), "seed " + seed);
    }
  }

  /** A plan says the layout that it was made from. */
  @Test
  void plansHaveTheLayoutsThatTheyWereMadeFrom() {
    for (int seed = 0; seed < INSTANCES; seed++) {
      StageCosts costs = SmallPipelines.costs(new SplittableRandom(seed));
      Request request = Request.of(BATCH);
      for (PipelineLayout layout : reachable(neighbours(costs, request))) {
        PipelinePlan plan;
        try {
          ScheduledCuts cuts =
              ScheduledCuts.balanced(
                      layout.choice().entry(),
                      layout.grid(),
                      layout.batching(),
                      costs,
                      request.recomputation(),
                      new PipelineOracle(costs, new PathFormula()))
                  .orElseThrow();
          cuts.price();
          plan = cuts.plan();
        } catch (IllegalArgumentException e) {
          continue; // the schedule is not for these numbers
        }
        PipelineLayout read = PipelineLayout.of(plan).orElseThrow();
        assertEquals(layout.choice(), read.choice());
        assertEquals(layout.batching(), read.batching());
        assertEquals(layout.grid().devices(0), read.grid().devices(0));
        assertEquals(layout.grid().with(read.grid().arrangement()), read.grid());
      }
    }
  }

  /**
   * Grids that promise little with 1F1B may be the best with another schedule, and where links are
   * slow, messages that queue decide.
   */
  @ParameterizedTest
  @CsvSource({
    "bert-48, dapple-a:4x8, 64, 0.50",
    "amoebanet-36, dapple-a:2x8, 64, 0.43",
    "bert-48, dapple-c:16, 64, 1.15"
  })
  void theDefaultPlannerFindsTheBestGrids(String network, String on, int batch, double seconds) {
    StageCosts costs = AutoPlannerTest.zoo(network, on);
    Oracle decides = new SimulatedOracle(new PipelineOracle(costs, new PathFormula()));
    Request request = Request.of(batch);
    double before =
        AutoPlanner.pipelines(costs, request, decides, () -> false).stream()
            .mapToDouble(Candidate::seconds)
            .min()
            .orElseThrow();
    Planning planning = AutoPlanner.plan(costs, request, decides, () -> false);
    double step = planning.best().orElseThrow().seconds();
    assertTrue(step <= before, step + " against " + before);
    assertTrue(step < seconds, "" + step);
    assertTrue(step >= planning.lowerBound().value(), "" + planning.lowerBound());
  }
}
