package dev.pipewright.planner;

import static dev.pipewright.planner.SmallPipelines.BATCH;
import static dev.pipewright.planner.SmallPipelines.bounds;
import static dev.pipewright.planner.SmallPipelines.costs;
import static dev.pipewright.planner.SmallPipelines.cuts;
import static dev.pipewright.planner.SmallPipelines.grid;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.MessageOverhead;
import dev.pipewright.cost.PathFormula;
import dev.pipewright.cost.PipelineOracle;
import dev.pipewright.cost.SimulatedOracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.planner.ScheduledPlanner.Choice;
import dev.pipewright.planner.partition.OnePath;
import dev.pipewright.planner.recompute.Recomputation;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** No pipeline is faster than its bound, or holds less than its bound of states. */
class PipelineBoundsTest {
  private static final int INSTANCES = 200;
  private static final double ROUNDING = 1e-9;

  /**
   * No pipeline is faster than the bound of its grid and of the shape of its schedule, whether its
   * stages are balanced or its cuts have been moved, by the cost model and by the simulator.
   */
  @Test
  void noPipelineIsFasterThanItsBound() {
    int tight = 0;
    for (int instance = 0; instance < INSTANCES; instance++) {
      StageCosts costs = costs(new SplittableRandom(1000 + instance));
      PipelineOracle oracle = new PipelineOracle(costs, new PathFormula());
      SimulatedOracle simulator = new SimulatedOracle(oracle);
      int devices = costs.workload().cluster().size();
      for (Recomputation recomputation : Recomputation.values()) {
        SplittableRandom random = new SplittableRandom(instance);
        List<Choice> choices = AutoPlanner.choices(Request.of(BATCH));
        for (int trial = 0; trial < 3; trial++) {
          Choice choice = choices.get(random.nextInt(choices.size()));
          int ranks = random.nextBoolean() ? devices : random.nextInt(1, devices + 1);
          int replicas = devices / ranks;
          int samples = 1 << random.nextInt(4);
          if (ranks * replicas != devices || replicas > samples) {
            continue;
          }
          ZeroStage states = random.nextBoolean() ? ZeroStage.OPTIMIZER : ZeroStage.NOTHING;
          Grid grid =
              new Grid(
                  ranks,
                  replicas,
                  Parallelism.NONE,
                  random.nextBoolean() ? Arrangement.BY_RANK : Arrangement.BY_PIPELINE,
                  choice.chunks(),
                  replicas > 1 ? states : ZeroStage.NOTHING);
          MicroBatching batching = new MicroBatching(1, samples, BATCH / samples);
          PipelineBounds bounds = bounds(costs, Parallelism.NONE, recomputation);
          double bound = bounds.seconds(grid, batching, ScheduleShape.of(choice));
          for (ScheduledCuts cuts : cuts(choice, grid, batching, costs, recomputation, oracle)) {
            String what =
                instance
                    + " "
                    + choice.entry().name()
                    + " "
                    + grid
                    + " "
                    + batching
                    + recomputation
                    + " "
                    + bound;
            if (cuts.fits()) {
              assertTrue(bound <= cuts.seconds() * (1 + ROUNDING), what);
              double simulated = simulator.assess(cuts.plan()).stepSeconds();
              assertTrue(bound <= simulated * (1 + ROUNDING), what);
              tight += bound > 0.95 * simulated ? 1 : 0;
            }
          }
        }
      }
    }
    assertTrue(tight > 200, "bounds within 5 %: " + tight);
  }

  /** Layers that a machine divides, on a real network; some pay for the messages of both ends. */
  @ParameterizedTest
  @CsvSource({
    "sequence:2, gpt, 0",
    "sequence:4, gpt, 0",
    "tensor:2, gpt, 0",
    "tensor:4, gpt, 0",
    "context:2, llama, 0",
    "context:4, mixtral, 0",
    "context:8, llama, 0",
    "expert:2, mixtral, 0",
    "expert:4, mixtral, 0",
    "expert:8, mixtral, 0",
    "expert:2x1, mixtral, 0",
    "expert:4x1, mixtral, 0",
    "expert:1x2, mixtral, 0",
    "expert:2x2, mixtral, 0",
    "expert:4x2, mixtral, 0",
    "expert:2x2, mixtral, 1e-8",
    "sequence:2x2, gpt, 0",
    "sequence:2x4, llama, 0",
    "sequence:4x2, mixtral, 0",
    "sequence:4, gpt, 1e-8",
    "context:2, llama, 1e-8",
    "expert:4x1, mixtral, 1e-8",
    "sequence:2x2, gpt, 1e-8"
  })
  void noPipelineOfDividedLayersIsFasterThanItsBound(
      String division, String family, double secondsPerByte) {
    String sizes = ":layers=6,hidden=512,heads=8,sequence=128,vocabulary=1024";
    String experts = family.equals("mixtral") ? ",experts=8,chosen=2,ffn=512" : "";
    StageCosts costs =
        paying(AutoPlannerTest.zoo(family + sizes + experts, "dgx-h100:2x4"), secondsPerByte);
    PipelineOracle oracle = new PipelineOracle(costs, new PathFormula());
    SimulatedOracle simulator = new SimulatedOracle(oracle);
    Parallelism parallelism = Parallelism.parse(division).orElseThrow();
    int parts = parallelism.parts();
    PipelineBounds bounds = bounds(costs, parallelism, Recomputation.SELECTIVE);
    int priced = 0;
    List<Choice> choices = AutoPlanner.choices(Request.of(BATCH));
    int third = division.length() - 2 + parts / 2; // of the schedules, not the same for all cases
    for (int at = third % 3; at < choices.size(); at += 3) {
      Choice choice = choices.get(at);
      for (int ranks = 1; ranks * parts <= 8; ranks *= 2) {
        for (int samples = 1; samples <= BATCH; samples *= 2) {
          int replicas = 8 / parts / ranks;
          Grid grid = grid(ranks, replicas, parallelism, Arrangement.BY_RANK, choice.chunks());
          MicroBatching batching = new MicroBatching(1, samples, BATCH / samples);
          if (samples % (replicas * parallelism.sampleParts()) == 0) {
            double bound = bounds.seconds(grid, batching, ScheduleShape.of(choice));
            for (ScheduledCuts cuts :
                cuts(choice, grid, batching, costs, Recomputation.SELECTIVE, oracle)) {
              double simulated = simulator.assess(cuts.plan()).stepSeconds();
              String what = choice.entry().name() + " " + grid + " " + batching;
              if (ranks > 1 || at == 0) {
                double states = states(costs, grid, choice);
                double peak = peakStates(cuts);
                assertTrue(states <= peak * (1 + ROUNDING), what + ": " + states + " > " + peak);
              }
              assertTrue(bound <= simulated * (1 + ROUNDING), what);
              priced++;
            }
          }
        }
      }
    }
    assertTrue(priced > 20, "priced " + priced);
  }

  private static StageCosts paying(StageCosts costs, double secondsPerByte) {
    if (secondsPerByte == 0) {
      return costs;
    }
    Workload workload = costs.workload();
    Cluster cluster = workload.cluster();
    MessageOverhead each = new MessageOverhead(0, secondsPerByte);
    return costs.with(
        new Workload(
            workload.chain(),
            workload.profile(),
            workload.training(),
            cluster.withSoftware(cluster.software().withMessage(each))));
  }

  private static double states(StageCosts costs, Grid grid, Choice choice) {
    int[] path = OnePath.positions(costs.workload().chain());
    return new DividedWork(costs, grid.parallelism(), path)
        .stateBytes(
            grid.ranks(), grid.replicas(), grid.sharding(), ScheduleShape.of(choice).copies());
  }

  /** Bytes of states of the fullest device. */
  private static double peakStates(ScheduledCuts cuts) {
    return cuts.estimate().memory().stream()
        .mapToDouble(peak -> peak.states().all())
        .max()
        .orElseThrow();
  }
}
