package dev.pipewright.planner;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.PathFormula;
import dev.pipewright.cost.PipelineOracle;
import dev.pipewright.cost.Roofline;
import dev.pipewright.cost.Samples;
import dev.pipewright.cost.SimulatedOracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.model.Chain;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.ScheduledPlanner.Choice;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.schedule.catalog.ScheduleCatalog;
import dev.pipewright.schedule.catalog.ScheduleEntry;
import dev.pipewright.schedule.check.Validator;
import dev.pipewright.zoo.Clusters;
import dev.pipewright.zoo.Models;
import dev.pipewright.zoo.ZooModel;
import java.util.List;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.concurrent.ForkJoinPool;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AutoPlannerTest {
  private static final double ROUNDING = 1e-9;

  private static Oracle decides(StageCosts costs) {
    return new SimulatedOracle(new PipelineOracle(costs, new PathFormula()));
  }

  private static Planning plan(StageCosts costs, int globalBatch) {
    return AutoPlanner.plan(costs, Request.of(globalBatch), decides(costs), () -> false);
  }

  static StageCosts zoo(String network, String on) {
    return zoo(Models.find(network).orElseThrow(), on);
  }

  private static StageCosts zoo(ZooModel model, String on) {
    Cluster cluster = Clusters.find(on).orElseThrow();
    var profile =
        Roofline.profile(model.graph(), cluster, model.training(), List.of(1, 2, 4, 8, 16, 32));
    return new StageCosts(
        new Workload(Chain.of(model.graph()), profile, model.training(), cluster));
  }

  private static void holds(StageCosts costs, Planning planning, int globalBatch) {
    Oracle oracle = CostModel.PIPEWRIGHT.oracle(costs);
    Oracle simulator = decides(costs);
    for (Candidate candidate : planning.candidates()) {
      PipelinePlan plan = candidate.plan();
      assertEquals(List.of(), Validator.check(plan.schedule()), plan.summary());
      assertEquals(globalBatch, plan.globalBatch());
      assertEquals(oracle.assess(plan), candidate.estimate(), plan.summary());
      assertTrue(candidate.estimate().fits(), plan.summary());
      assertTrue(
          planning.lowerBound().value() <= candidate.seconds() * (1 + ROUNDING), plan.summary());
      candidate
          .simulated()
          .ifPresent(said -> assertEquals(simulator.assess(plan), said, plan.summary()));
    }
  }

  /** Its plans are what the oracle and the simulator say, and no other planner has a faster one. */
  @ParameterizedTest
  @CsvSource({
    "gpt:layers=6;hidden=512;heads=8;sequence=128;vocabulary=1024, dapple-b:2, 8",
    "gpt:layers=6;hidden=512;heads=8;sequence=128;vocabulary=1024, dgx-h100:1x4, 8",
    "vgg-16, dapple-a:1x4, 8",
  })
  void noOtherPlannerIsFaster(String network, String cluster, int globalBatch) {
    StageCosts costs = zoo(network.replace(';', ','), cluster);
    Planning auto = plan(costs, globalBatch);
    holds(costs, auto, globalBatch);
    Request request = Request.of(globalBatch);
    double best = auto.best().orElseThrow().seconds();
    Planning hybrids = DapplePlanner.plan(costs, request, decides(costs));
    assertTrue(best <= hybrids.best().orElseThrow().seconds() * (1 + ROUNDING));
    for (ScheduleEntry entry : ScheduleCatalog.entries()) {
      if (entry.isSynchronousPipeline()) {
        Choice choice = new Choice(entry, entry.chunks());
        ScheduledPlanner.plan(choice, costs, request, decides(costs), () -> false)
            .best()
            .ifPresent(plan -> assertTrue(best <= plan.seconds() * 1.01, entry.name()));
      }
    }
  }

  @Test
  void plansOfAnyLayersAreWhatTheOracleSays() {
    SplittableRandom random = new SplittableRandom(3);
    for (int problem = 0; problem < 20; problem++) {
      StageCosts costs = Samples.costs(random, Samples.chain(random.nextInt(2, 9)), 8);
      Planning auto = plan(costs, 8);
      holds(costs, auto, 8);
      Planning hybrids = DapplePlanner.plan(costs, Request.of(8), decides(costs));
      hybrids
          .best()
          .ifPresent(best ->
              assertTrue(auto.best().orElseThrow().seconds() <= best.seconds() * (1 + ROUNDING)));
    }
  }

  /** Threads share the pricing: what they find does not depend on how many they are. */
  @Test
  void oneThreadAndSeveralFindTheSame() {
    SplittableRandom random = new SplittableRandom(5);
    for (int problem = 0; problem < 5; problem++) {
      StageCosts costs = Samples.costs(random, Samples.chain(random.nextInt(6, 12)), 8);
      Planning alone = new ForkJoinPool(1).submit(() -> plan(costs, 8)).join();
      Planning together = new ForkJoinPool(4).submit(() -> plan(costs, 8)).join();
      assertEquals(alone, together);
    }
  }

  /**
   * 70 billion parameters do not fit into a machine: an expert divides features within machines.
   */
  @Test
  void largeTransformersDivideLayersWithinMachines() {
    StageCosts costs = zoo("llama3-70b", "dgx-h100:4x8");
    PipelinePlan plan = plan(costs, 64).best().orElseThrow().plan();
    assertTrue(plan.dividesLayers() || plan.sharding() != ZeroStage.NOTHING, plan.summary());
    for (StagePlan stage : plan.stages()) {
      Parallelism parallelism = stage.parallelism();
      for (int first = 0; first < stage.devices().size(); first += parallelism.pieces()) {
        int machine = stage.devices().get(first) / 8;
        List<Integer> group = stage.devices().subList(first, first + parallelism.pieces());
        assertTrue(group.stream().allMatch(device -> device / 8 == machine), plan.summary());
      }
    }
  }

  /**
   * A mixture of experts and long sequences on several machines: no plan of another planner is
   * faster, nor is any even pipeline of two ways to divide layers that are usual there.
   */
  @ParameterizedTest
  @CsvSource({
    "mixtral-8x7b, 2, 64, expert:8",
    "mixtral-8x7b, 2, 128, expert:4x2",
    "qwen3-30b-a3b, 2, 64, expert:16",
    "llama3-8b:32768, 2, 16, context:8",
    "llama3-70b:65536, 8, 16, sequence:4x8"
  })
  void expertsAndLongSequencesAreDivided(
      String network, int machines, int globalBatch, String divided) {
    Parallelism usual = Parallelism.parse(divided).orElseThrow();
    String[] words = network.split(":", -1);
    OptionalInt tokens =
        words.length == 1 ? OptionalInt.empty() : OptionalInt.of(Integer.parseInt(words[1]));
    ZooModel model = Models.find(words[0], tokens).orElseThrow();
    StageCosts costs = zoo(model, "dgx-h100:" + machines + "x8");
    Planning auto = plan(costs, globalBatch);
    holds(costs, auto, globalBatch);
    double best = auto.best().orElseThrow().seconds();
    Planning hybrids = DapplePlanner.plan(costs, Request.of(globalBatch), decides(costs));
    hybrids.best().ifPresent(plan -> assertTrue(best <= plan.seconds() * (1 + ROUNDING)));
    Oracle simulator = decides(costs);
    PipelineOracle oracle = new PipelineOracle(costs, new PathFormula());
    int compared = 0;
    boolean experts = usual.kind() == Kind.EXPERT;
    Parallelism other = experts ? Parallelism.ofWholeSequences(usual.parts()) : sequence();
    for (Parallelism division : List.of(usual, sequence(), other)) {
      int groups = 8 * machines / division.parts();
      for (int ranks = 1; ranks <= groups; ranks *= 2) {
        for (MicroBatching batching : MicroBatching.of(Request.of(globalBatch), groups)) {
          int replicas = groups / ranks;
          ZeroStage states = replicas > 1 ? ZeroStage.OPTIMIZER : ZeroStage.NOTHING;
          Grid grid =
              new Grid(
                  ranks,
                  replicas,
                  division,
                  Arrangement.BY_RANK,
                  1,
                  division.sharesWeights() ? ZeroStage.OPTIMIZER : states);
          int slices = replicas * division.sampleParts();
          if (division.sampleParts() > 1
              ? batching.samples() % slices == 0
              : replicas <= batching.samples()) {
            ScheduledCuts cuts = cuts(grid, batching, costs, oracle);
            if (cuts.fits()) {
              double seconds = simulator.assess(cuts.plan()).stepSeconds();
              assertTrue(best <= seconds * (1 + ROUNDING), grid + ": " + seconds + " < " + best);
              compared++;
            }
          }
        }
      }
    }
    assertTrue(compared > 0, "none to compare with");
  }

  private static Parallelism sequence() {
    return Parallelism.of(Kind.SEQUENCE, 8);
  }

  private static ScheduledCuts cuts(
      Grid grid, MicroBatching batching, StageCosts costs, PipelineOracle oracle) {
    ScheduleEntry entry = AutoPlanner.choices(Request.of(8)).get(0).entry();
    ScheduledCuts cuts =
        ScheduledCuts.balanced(entry, grid, batching, costs, Recomputation.SELECTIVE, oracle)
            .orElseThrow();
    cuts.price();
    return cuts;
  }

  /** Machines whose number divides neither batch nor layers may stay idle. */
  @Test
  void moreMachinesAreNoSlower() {
    StageCosts two = zoo("bert-48", "dapple-a:2x8");
    StageCosts three = zoo("bert-48", "dapple-a:3x8");
    Planning larger = plan(three, 64);
    holds(three, larger, 64);
    double smaller = plan(two, 64).best().orElseThrow().seconds();
    assertTrue(larger.best().orElseThrow().seconds() <= smaller * (1 + ROUNDING));
  }
}
