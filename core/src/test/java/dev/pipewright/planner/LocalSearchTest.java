package dev.pipewright.planner;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.ClusterVariants;
import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.PathFormula;
import dev.pipewright.cost.PipelineOracle;
import dev.pipewright.cost.SimulatedOracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.plan.PipelinePlan;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LocalSearchTest {
  private static final int BATCH = 64;
  private static StageCosts costs;
  private static Planning known;

  @BeforeAll
  static void plan() {
    costs = AutoPlannerTest.zoo("bert-48", "dapple-a");
    known = AutoPlanner.plan(costs, Request.of(BATCH), decides(costs), () -> false);
  }

  private static Oracle decides(StageCosts on) {
    return new SimulatedOracle(new PipelineOracle(on, new PathFormula()));
  }

  private static PipelinePlan plan(Planning planning) {
    return planning.best().orElseThrow().plan();
  }

  private static BooleanSupplier after(int prices) {
    AtomicInteger asked = new AtomicInteger();
    return () -> asked.incrementAndGet() > prices;
  }

  private static Planning near(StageCosts on, OptionalInt microBatches, int prices) {
    return LocalSearch.plan(
        on, Request.of(BATCH), List.of(plan(known)), microBatches, decides(on), after(prices));
  }

  private static StageCosts on(Cluster cluster) {
    Workload of = costs.workload();
    return costs.with(new Workload(of.chain(), of.profile(), of.training(), cluster));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 100})
  void aKnownPlanIsNeverLost(int prices) {
    Planning near = near(costs, OptionalInt.empty(), prices);
    double seconds = near.best().orElseThrow().seconds();
    assertTrue(seconds <= known.best().orElseThrow().seconds(), seconds + " with " + prices);
    assertTrue(seconds >= near.lowerBound().value());
  }

  @Test
  void plansAreForTheClusterAsItIsNow() {
    Cluster half = ClusterVariants.sized(costs.workload().cluster(), 8);
    PipelinePlan plan = plan(near(on(half), OptionalInt.empty(), 100));
    assertTrue(
        plan.stages().stream()
            .flatMap(stage -> stage.devices().stream())
            .allMatch(device -> device < 8),
        plan.summary());
    assertEquals(BATCH, plan.globalBatch());
  }

  /** A whole search may find more, but not much. */
  @Test
  void lessMemoryIsAnsweredNearlyAsWellAsByAWholeSearch() {
    StageCosts small = on(ClusterVariants.withMemoryTimes(costs.workload().cluster(), 0.5));
    double near = near(small, OptionalInt.empty(), 200).best().orElseThrow().seconds();
    double whole =
        AutoPlanner.plan(small, Request.of(BATCH), decides(small), () -> false)
            .best()
            .orElseThrow()
            .seconds();
    assertTrue(near < 1.1 * whole, near + " against " + whole);
  }

  @Test
  void microBatchesAreAsManyAsAsked() {
    for (int count : new int[] {1, 4, 32}) {
      assertEquals(count, plan(near(costs, OptionalInt.of(count), 100)).microBatches());
    }
  }

  @Test
  void nothingIsFoundWhereNothingFits() {
    StageCosts none = on(ClusterVariants.withMemoryTimes(costs.workload().cluster(), 0.01));
    assertTrue(near(none, OptionalInt.empty(), 50).best().isEmpty());
  }
}
