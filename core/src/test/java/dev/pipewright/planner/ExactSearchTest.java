package dev.pipewright.planner;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.Samples;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.profile.Profile;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.units.Precision;
import java.util.List;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class ExactSearchTest {
  private static final String SEEDED = "seed {currentRepetition}";

  private static Request request(int globalBatch) {
    return new Request(
        globalBatch,
        OptionalInt.empty(),
        List.of(PipelinePolicy.A, PipelinePolicy.B),
        Recomputation.WHERE_NEEDED,
        CostModel.PIPEWRIGHT);
  }

  private static double best(Planning planning) {
    return planning.candidates().stream()
        .filter(candidate -> !candidate.plan().overlapGradients())
        .map(Candidate::estimate)
        .mapToDouble(estimate -> estimate.stepSeconds())
        .min()
        .orElse(Double.POSITIVE_INFINITY);
  }

  @RepeatedTest(value = 200, name = SEEDED)
  void theExactPlanIsAsGoodAsExhaustiveSearch(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(9000 + seed.getCurrentRepetition());
    int globalBatch = random.nextInt(1, 9);
    StageCosts costs = Samples.costs(random, Samples.chain(random.nextInt(1, 7)), globalBatch);
    Request request = request(globalBatch);
    Exhaustive.Answer truth = Exhaustive.best(costs, request);
    Planning exact = DapplePlanner.exact(costs, request, oracle(costs), () -> false);
    assertEquals("exact", exact.planner());
    if (truth.plan().isPresent()) {
      assertTrue(exact.search().exhaustive());
      assertEquals(truth.seconds(), best(exact), 1e-9 * truth.seconds());
    }
  }

  private static Oracle oracle(StageCosts costs) {
    return CostModel.PIPEWRIGHT.oracle(costs);
  }

  /** More placements than the usual search looks at. */
  private static StageCosts wide(SplittableRandom random) {
    Profile profile = Samples.profile(random, 6);
    Cluster cluster =
        Cluster.uniform("wide", Samples.kind("k", 1L << 40, 1e12), Samples.levels(random, 2), 4, 4);
    Training training = new Training(Optimizer.SGD, Precision.FP32);
    return new StageCosts(new Workload(Chain.of(Samples.chain(6)), profile, training, cluster));
  }

  @RepeatedTest(value = 20, name = SEEDED)
  void whatTheUsualSearchLeavesOutIsSearched(RepetitionInfo seed) {
    StageCosts costs = wide(new SplittableRandom(seed.getCurrentRepetition()));
    Planning usual = DapplePlanner.plan(costs, request(8), oracle(costs));
    assertFalse(usual.search().exhaustive());
    Planning exact = DapplePlanner.exact(costs, request(8), oracle(costs), () -> false);
    assertTrue(exact.search().exhaustive());
    assertEquals("every placement", exact.search().space());
    assertTrue(best(exact) <= best(usual) * (1 + 1e-12));
    assertTrue(exact.best().orElseThrow().seconds() <= usual.best().orElseThrow().seconds());
  }

  @Test
  void anEarlyEndLeavesTheUsualPlanAndSaysSo() {
    StageCosts costs = wide(new SplittableRandom(1));
    AtomicInteger asked = new AtomicInteger();
    Planning usual =
        DapplePlanner.plan(costs, request(8), oracle(costs), () -> asked.incrementAndGet() < 0);
    int enough = asked.get();
    asked.set(0);
    Planning ended =
        DapplePlanner.exact(
            costs, request(8), oracle(costs), () -> asked.incrementAndGet() > enough);
    assertFalse(ended.search().exhaustive());
    assertEquals(usual.best().orElseThrow().seconds(), ended.best().orElseThrow().seconds(), 1e-12);
  }

  @Test
  void aFullPoolIsNoMistake() {
    LabelPool pool = new LabelPool(3, 3 * 2048);
    while (pool.size < 2048) {
      assertTrue(pool.reserve());
      pool.size++;
    }
    assertFalse(pool.reserve());
    assertEquals(2048, pool.parent.length);
  }
}
