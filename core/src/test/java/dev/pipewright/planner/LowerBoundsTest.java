package dev.pipewright.planner;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.Link;
import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.Samples;
import dev.pipewright.cost.SimulatedOracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.Planning.LowerBound;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.LayerSizes;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.profile.Provenance;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.units.Bytes;
import dev.pipewright.units.Precision;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalInt;
import java.util.Random;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class LowerBoundsTest {
  private static final String SEEDED = "seed {currentRepetition}";

  @RepeatedTest(value = 200, name = SEEDED)
  void noPlanIsFaster(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    int globalBatch = random.nextInt(1, 9);
    StageCosts costs = Samples.costs(random, Samples.chain(random.nextInt(1, 8)), globalBatch);
    LowerBound bound = LowerBounds.best(costs, globalBatch, CostModel.PIPEWRIGHT);
    Planning planning =
        DapplePlanner.plan(
            costs,
            Request.of(globalBatch),
            new SimulatedOracle(CostModel.PIPEWRIGHT.oracle(costs)));
    planning
        .candidates()
        .forEach(plan -> assertTrue(bound.value() <= plan.seconds() * (1 + 1e-9), bound::why));
  }

  private static StageCosts costs(SplittableRandom random, int globalBatch) {
    return Samples.costs(
        random,
        random.nextInt(4) == 0 ? Samples.branching(random) : Samples.chain(random.nextInt(1, 7)),
        globalBatch);
  }

  private static Request request(SplittableRandom random, int globalBatch) {
    return new Request(
        globalBatch,
        OptionalInt.empty(),
        List.of(PipelinePolicy.A, PipelinePolicy.B),
        random.nextBoolean() ? Recomputation.WHERE_NEEDED : Recomputation.NEVER,
        random.nextInt(3) > 0 ? CostModel.PIPEWRIGHT : CostModel.DAPPLE);
  }

  @RepeatedTest(value = 300, name = SEEDED)
  void theOptimumOfExhaustiveSearchIsNotBelow(RepetitionInfo seed) {
    var random = new SplittableRandom(40_000 + seed.getCurrentRepetition());
    int globalBatch = random.nextInt(1, 9);
    StageCosts costs = costs(random, globalBatch);
    Request request = request(random, globalBatch);
    LowerBound bound = LowerBounds.best(costs, globalBatch, request.costModel());
    double optimum = Exhaustive.best(costs, request).seconds();
    assertTrue(
        bound.value() <= optimum * (1 + 1e-9),
        () -> bound.value() + " (" + bound.why() + ") against " + optimum);
  }

  /** Warm-ups, recomputation and overlapped all-reduce as nobody would choose them. */
  @RepeatedTest(value = 300, name = SEEDED)
  void noPlanThatFitsIsBelow(RepetitionInfo seed) {
    var random = new SplittableRandom(50_000 + seed.getCurrentRepetition());
    int globalBatch = random.nextInt(1, 13);
    StageCosts costs = costs(random, globalBatch);
    CostModel model = random.nextInt(3) > 0 ? CostModel.PIPEWRIGHT : CostModel.DAPPLE;
    LowerBound bound = LowerBounds.best(costs, globalBatch, model);
    Oracle oracle = model.oracle(costs);
    Oracle prices = CostModel.PIPEWRIGHT.oracle(costs);
    Oracle simulator = costs.total() ? new SimulatedOracle(prices) : prices;
    for (int i = 0; i < 60; i++) {
      PipelinePlan plan = plan(random, costs, globalBatch);
      Assessment estimate = oracle.assess(plan);
      if (estimate.fits()) {
        double least = Math.min(estimate.stepSeconds(), simulator.assess(plan).stepSeconds());
        assertTrue(
            bound.value() <= least * (1 + 1e-9), () -> bound.value() + ": " + plan.summary());
      }
    }
  }

  private static PipelinePlan plan(SplittableRandom random, StageCosts costs, int globalBatch) {
    List<Integer> free = new ArrayList<>();
    for (int device = 0; device < costs.workload().cluster().size(); device++) {
      free.add(device);
    }
    Collections.shuffle(free, new Random(random.nextLong()));
    int microBatching;
    do {
      microBatching = random.nextInt(1, globalBatch + 1);
    } while (globalBatch % microBatching != 0);
    int microBatches = globalBatch / microBatching;
    List<StagePlan> stages = new ArrayList<>();
    int ahead = random.nextInt(1, microBatches + 1);
    for (int first = 0; first < costs.size(); ) {
      int end = random.nextInt(first, costs.size()) + 1;
      while ((free.size() == 1 && end < costs.size()) || !costs.isStage(first, end)) {
        end++;
      }
      int most = Math.min(microBatching, end < costs.size() ? free.size() - 1 : free.size());
      List<Integer> devices = new ArrayList<>(free.subList(0, random.nextInt(1, most + 1)));
      free.removeAll(devices);
      Recompute recompute = random.nextInt(3) == 0 ? Recompute.STAGE_INPUT : Recompute.NONE;
      stages.add(new StagePlan(first, end - 1, devices, recompute, ahead));
      ahead = random.nextInt(1, ahead + 1);
      first = end;
    }
    return new PipelinePlan(
        PipelinePolicy.A, microBatches, microBatching, 1, random.nextBoolean(), stages);
  }

  /** Work and a sample's way alone reach 48 % of the optimum on average here. */
  @Test
  void itIsNearTheOptimum() {
    int reached = 0;
    int feasible = 0;
    double share = 0;
    for (int seed = 1; seed <= 200; seed++) {
      var random = new SplittableRandom(60_000 + seed);
      int globalBatch = random.nextInt(1, 9);
      StageCosts costs = Samples.costs(random, Samples.chain(random.nextInt(1, 6)), globalBatch);
      double optimum = Exhaustive.best(costs, Request.of(globalBatch)).seconds();
      if (Double.isFinite(optimum)) {
        LowerBound bound = LowerBounds.best(costs, globalBatch, CostModel.PIPEWRIGHT);
        feasible++;
        reached += bound.value() >= optimum * (1 - 1e-9) ? 1 : 0;
        share += bound.value() / optimum;
      }
    }
    assertTrue(reached >= 10, "reached " + reached);
    assertTrue(share / feasible >= 0.75, "share " + share / feasible);
  }

  /**
   * Two layers of a second there and a second back for a sample, two million bytes of weights each,
   * one million between them; two machines of one device, a million bytes a second.
   */
  private static StageCosts twoLayers(long memory) {
    var times = new LayerTimes(1, 1, Double.NaN, 0);
    List<LayerSizes> sizes = List.of(new LayerSizes(1e6, 0, 2e6), new LayerSizes(0, 0, 2e6));
    var source = new Provenance("by hand", "k", "", false);
    var profile =
        new Profile(source, Precision.FP32, sizes, List.of(1), List.of(List.of(times, times)));
    Link link = Link.of(0, 1e6);
    Cluster cluster = Samples.plain(List.of(link, link), 1, 2).withMemory(new Bytes(memory));
    return new StageCosts(
        new Workload(
            Chain.of(Samples.chain(2)),
            profile,
            new Training(Optimizer.SGD, Precision.FP32),
            cluster));
  }

  /**
   * One stage: a sample's 4 s on each device, and of the 4 s of all-reduce what its backward pass
   * of 2 s leaves.
   */
  @Test
  void oneStageSumsItsGradientsAndTwoTransferTheirActivations() {
    LowerBound bound = LowerBounds.best(twoLayers(1L << 40), 2, CostModel.PIPEWRIGHT);
    assertEquals(6, bound.value(), 1e-9);
    assertEquals("one stage's work and the all-reduce that it cannot hide", bound.why());
  }

  /**
   * Weights and gradients are 8 MB. With less, two stages: forward pass, transfer, both passes of
   * both micro-batches, transfer, backward pass.
   */
  @Test
  void memoryForbidsTheOneStageThatWouldBeFaster() {
    LowerBound roomy = LowerBounds.best(twoLayers(8_000_000), 2, CostModel.PIPEWRIGHT);
    assertEquals(6, roomy.value(), 1e-9);
    LowerBound narrow = LowerBounds.best(twoLayers(7_999_999), 2, CostModel.PIPEWRIGHT);
    assertEquals(8, narrow.value(), 1e-9);
    assertTrue(narrow.why().contains("memory: one stage would hold 7.63 MiB"), narrow::why);
  }

  /** More devices than samples: each sample still has to go through all layers. */
  @Test
  void aSingleSampleHasItsWayToGo() {
    for (int seed = 1; seed <= 50; seed++) {
      StageCosts costs = Samples.costs(new SplittableRandom(seed), Samples.chain(6), 1);
      LowerBound bound = LowerBounds.best(costs, 1, CostModel.PIPEWRIGHT);
      double once = costs.cheapestSecondsPerSample(1)[costs.size()] * costs.fastest();
      assertTrue(bound.value() >= once * (1 - 1e-12));
    }
  }

  /** Its micro-batches keep more than devices hold: some layers have to run twice. */
  @Test
  void whatMicroBatchesKeepTakesMemory() {
    StageCosts costs = AutoPlannerTest.zoo("llama3-70b", "dgx-h100:8x8");
    Workload narrow = costs.workload();
    Workload roomy =
        new Workload(
            narrow.chain(),
            narrow.profile(),
            narrow.training(),
            narrow.cluster().withMemory(Bytes.gib(2_000)));
    LowerBound bound = LowerBounds.best(costs, 128, CostModel.PIPEWRIGHT);
    LowerBound without = LowerBounds.best(new StageCosts(roomy), 128, CostModel.PIPEWRIGHT);
    assertTrue(bound.value() > 1.02 * without.value(), bound + " " + without);
    assertTrue(bound.why().contains("memory for what micro-batches keep"), bound.why());
  }
}
