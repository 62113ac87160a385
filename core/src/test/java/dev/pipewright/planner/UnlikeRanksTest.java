package dev.pipewright.planner;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.DeviceKind;
import dev.pipewright.cost.PathFormula;
import dev.pipewright.cost.PipelineOracle;
import dev.pipewright.cost.Samples;
import dev.pipewright.cost.SimulatedOracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.ScheduledPlanner.Choice;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.schedule.PipelinePolicy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Equal pipelines on clusters of two kinds of devices. */
class UnlikeRanksTest {
  private static final double ROUNDING = 1e-9;
  private static final double CLOSE = 1e-6; // moves gain more than that
  private static final int BATCH = 8;
  private static final int INSTANCES = 200;

  /** Of two or four devices the second half is so many times slower. */
  private static StageCosts slower(StageCosts costs, double times) {
    Workload of = costs.workload();
    Cluster alike = of.cluster();
    List<DeviceKind> kinds = new ArrayList<>();
    DeviceKind fast = alike.device(0);
    DeviceKind slow =
        Samples.kind(
            "slow", fast.memory().value(), fast.peak(of.training().precision()).value() / times);
    for (int device = 0; device < alike.size(); device++) {
      kinds.add(device < alike.size() / 2 ? fast : slow);
    }
    Cluster both = new Cluster("both", kinds, alike.levels(), alike.groups());
    return new StageCosts(new Workload(of.chain(), of.profile(), of.training(), both));
  }

  @Test
  void noPipelineIsFasterThanItsBound() {
    int tight = 0;
    for (int instance = 0; instance < INSTANCES; instance++) {
      SplittableRandom random = new SplittableRandom(instance);
      StageCosts costs = slower(SmallPipelines.costs(random), random.nextDouble(0.3, 4));
      PipelineOracle oracle = new PipelineOracle(costs, new PathFormula());
      SimulatedOracle simulator = new SimulatedOracle(oracle);
      PipelineBounds bounds =
          SmallPipelines.bounds(costs, Parallelism.NONE, Recomputation.SELECTIVE);
      int devices = costs.workload().cluster().size();
      List<Choice> choices = AutoPlanner.choices(Request.of(BATCH));
      Choice choice = choices.get(random.nextInt(choices.size()));
      for (int ranks = 1; ranks <= devices; ranks *= 2) {
        int replicas = devices / ranks;
        ZeroStage states = replicas > 1 ? ZeroStage.OPTIMIZER : ZeroStage.NOTHING;
        Grid grid =
            new Grid(
                ranks,
                replicas,
                Parallelism.NONE,
                List.of(Arrangement.values()).get(random.nextInt(3)),
                choice.chunks(),
                states);
        MicroBatching batching = new MicroBatching(1, replicas, BATCH / replicas);
        double bound = bounds.seconds(grid, batching, ScheduleShape.of(choice));
        for (ScheduledCuts cuts :
            SmallPipelines.cuts(choice, grid, batching, costs, Recomputation.SELECTIVE, oracle)) {
          if (cuts.fits()) {
            String what = instance + " " + choice.entry().name() + " " + grid;
            double simulated = simulator.assess(cuts.plan()).stepSeconds();
            assertTrue(bound <= cuts.seconds() * (1 + ROUNDING), what);
            assertTrue(bound <= simulated * (1 + ROUNDING), what);
            tight += bound > 0.9 * simulated ? 1 : 0;
          }
        }
      }
    }
    assertTrue(tight > 100, "bounds within 10 %: " + tight);
  }

  /** Sixteen equal layers: a device three times slower has four of them. */
  @Test
  void slowerDevicesHaveShorterStages() {
    StageCosts alike =
        AutoPlannerTest.zoo(
            "gpt:layers=16,hidden=512,heads=8,sequence=128,vocabulary=64", "dgx-h100:1x2");
    StageCosts costs = slower(alike, 3);
    Grid grid = new Grid(2, 1, Parallelism.NONE, Arrangement.BY_RANK, 1, ZeroStage.NOTHING);
    MicroBatching batching = new MicroBatching(1, 1, BATCH);
    PipelineOracle oracle = new PipelineOracle(costs, new PathFormula());
    ScheduledCuts cuts =
        ScheduledCuts.balanced(
                AutoPlanner.choices(Request.of(BATCH)).get(0).entry(),
                grid,
                batching,
                costs,
                Recomputation.NEVER,
                oracle)
            .orElseThrow();
    cuts.price();
    PipelinePlan plan = cuts.plan();
    assertEquals(17, plan.layers() - 1);
    assertEquals(12, plan.stages().get(0).lastLayer(), "the embedding and twelve blocks");
  }

  /** Two machines, one three times slower: the plan uses both, and better than either alone. */
  @Test
  void aSlowerMachineIsOfUse() {
    StageCosts alike =
        AutoPlannerTest.zoo(
            "gpt:layers=32,hidden=2048,heads=16,sequence=1024,vocabulary=1024", "dgx-h100:2x2");
    Request request = Request.of(64);
    double fast = seconds(with(alike, alike.workload().cluster().first(2)), request);
    double both = seconds(slower(alike, 3), request);
    assertTrue(both < 0.82 * fast, both + " and " + fast + " on the faster machine alone");
  }

  private static StageCosts with(StageCosts costs, Cluster cluster) {
    Workload of = costs.workload();
    return new StageCosts(new Workload(of.chain(), of.profile(), of.training(), cluster));
  }

  private static double seconds(StageCosts costs, Request request) {
    SimulatedOracle simulator = new SimulatedOracle(new PipelineOracle(costs, new PathFormula()));
    Planning planning = AutoPlanner.plan(costs, request, simulator, () -> false);
    Candidate best = planning.best().orElseThrow();
    assertTrue(planning.lowerBound().value() <= best.seconds());
    return best.seconds();
  }

  @Test
  void pipelinesAreCutAsWellAsExhaustiveSearchCutsThem() {
    SplittableRandom random = new SplittableRandom(5);
    int compared = 0;
    for (int instance = 0; instance < 60; instance++) {
      StageCosts costs = slower(SmallPipelines.costs(random), random.nextDouble(1, 4));
      int devices = costs.workload().cluster().size();
      if (costs.size() < devices) {
        continue;
      }
      PipelineOracle oracle = new PipelineOracle(costs, new PathFormula());
      Request request = Request.of(BATCH).recomputing(Recomputation.NEVER);
      EqualPipelines pipelines =
          new EqualPipelines(
              costs,
              request,
              AutoPlanner.choices(request).subList(0, 1),
              new SearchEffort(99, 2, 99, 99, 500),
              () -> false);
      pipelines.add(Parallelism.NONE, List.of());
      List<Candidate> found = pipelines.search(oracle);
      double expected = leastOfAllCuts(costs, request, oracle);
      if (Double.isFinite(expected)) {
        double seconds = found.get(0).seconds();
        assertTrue(seconds <= expected * (1 + CLOSE), "instance " + instance);
        compared++;
      }
    }
    assertTrue(compared > 30, "compared: " + compared);
  }

  /** Of all cuts of all layers into one stage for each device, by the first schedule. */
  private static double leastOfAllCuts(StageCosts costs, Request request, PipelineOracle oracle) {
    return Math.min(
        leastOfAllCuts(costs, request, oracle, Arrangement.BY_RANK),
        leastOfAllCuts(costs, request, oracle, Arrangement.BY_RANK_FROM_THE_LAST));
  }

  private static double leastOfAllCuts(
      StageCosts costs, Request request, PipelineOracle oracle, Arrangement arrangement) {
    int devices = costs.workload().cluster().size();
    int size = costs.size();
    int[] path = new int[size];
    Arrays.setAll(path, at -> at);
    Grid grid = new Grid(devices, 1, Parallelism.NONE, arrangement, 1, ZeroStage.NOTHING);
    double least = Double.POSITIVE_INFINITY;
    for (MicroBatching batching : MicroBatching.of(request, devices)) {
      CutPlans plans = new CutPlans(grid, batching, request, path);
      for (int set = 0; set < 1 << (size - 1); set++) {
        if (Integer.bitCount(set) == devices - 1) {
          int[] firsts = new int[devices];
          int next = 1;
          for (int layer = 1; layer < size; layer++) {
            if ((set & (1 << (layer - 1))) != 0) {
              firsts[next++] = layer;
            }
          }
          var plan =
              plans.plan(
                  PipelinePolicy.A, batching.microBatches(), firsts, new double[devices], false);
          var estimate = oracle.assess(plan);
          least = estimate.fits() ? Math.min(least, estimate.stepSeconds()) : least;
        }
      }
    }
    return least;
  }
}
