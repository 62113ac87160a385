package dev.pipewright.planner;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.Link;
import dev.pipewright.cost.PathFormula;
import dev.pipewright.cost.PipelineOracle;
import dev.pipewright.cost.Samples;
import dev.pipewright.cost.SimulatedOracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.ScheduledPlanner.Choice;
import dev.pipewright.planner.partition.OnePath;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.units.Bytes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EqualPipelinesTest {
  private static final int INSTANCES = 200;
  private static final int DIVIDED = 60; // instances with divided tokens, which take longer
  private static final SearchEffort ALL_GRIDS = new SearchEffort(99, 2, 12, 2, 40);
  private static final int BATCH = 8;
  private static final double ROUNDING = 1e-9;
  static final List<Parallelism> NONE = List.of(Parallelism.NONE);
  private static final List<ZeroStage> SHARDING =
      List.of(ZeroStage.OPTIMIZER, ZeroStage.PARAMETERS);

  /** Up to eight layers on up to four devices. */
  static StageCosts costs(SplittableRandom random) {
    StageCosts any = Samples.costs(random, Samples.chain(random.nextInt(2, 9)), BATCH);
    Workload of = any.workload();
    double bandwidth = Math.pow(10, random.nextDouble(7, 11));
    Cluster cluster =
        Samples.plain(List.of(Link.of(1e-5, bandwidth)), random.nextBoolean() ? 2 : 4);
    return new StageCosts(new Workload(of.chain(), of.profile(), of.training(), cluster));
  }

  /** The same with so little memory that most plans have to recompute. */
  static StageCosts tight(StageCosts costs, SplittableRandom random) {
    Workload of = costs.workload();
    int layers = costs.size();
    double bytes =
        costs.staticBytes(0, layers)
            + costs.workingBytes(BATCH)
            + costs.heldBytes(0, layers, BATCH) * random.nextDouble(0.2, 0.8);
    Cluster cluster =
        Cluster.uniform(
            "tight",
            Samples.kind("k", (long) bytes, 1e12),
            of.cluster().levels(),
            of.cluster().size());
    return new StageCosts(new Workload(of.chain(), of.profile(), of.training(), cluster));
  }

  /** Schedules that follow from counts alone: the others take a search each. */
  static List<Choice> choices(Request request) {
    return AutoPlanner.choices(request).stream()
        .filter(choice -> !choice.entry().needsDurations() && choice.chunks() <= 3)
        .toList();
  }

  private static EqualPipelines pipelines(
      StageCosts costs, Request request, SearchEffort effort, List<Parallelism> kinds) {
    EqualPipelines pipelines =
        new EqualPipelines(costs, request, choices(request), effort, () -> false);
    kinds.forEach(parallelism -> pipelines.add(parallelism, SHARDING));
    return pipelines;
  }

  /** All grids with all schedules, none left out, without moving cuts. */
  private static double exhaustive(StageCosts costs, Request request, List<Parallelism> kinds) {
    return all(costs, request, kinds).stream()
        .filter(ScheduledCuts::fits)
        .mapToDouble(ScheduledCuts::seconds)
        .min()
        .orElse(Double.POSITIVE_INFINITY);
  }

  /** The same, those that do not fit, too. */
  static List<ScheduledCuts> all(StageCosts costs, Request request, List<Parallelism> kinds) {
    PipelineOracle oracle = new PipelineOracle(costs, new PathFormula());
    int devices = costs.workload().cluster().size();
    List<ScheduledCuts> all = new ArrayList<>();
    for (Parallelism parallelism : kinds) {
      for (int ranks = 1; ranks * parallelism.parts() <= devices; ranks++) {
        for (MicroBatching batching : MicroBatching.of(request, devices)) {
          all.addAll(all(parallelism, ranks, batching, costs, request, oracle));
        }
      }
    }
    return all;
  }

  private static List<ScheduledCuts> all(
      Parallelism parallelism,
      int ranks,
      MicroBatching batching,
      StageCosts costs,
      Request request,
      PipelineOracle oracle) {
    int devices = costs.workload().cluster().size();
    int replicas = devices / ranks / parallelism.parts();
    List<ScheduledCuts> all = new ArrayList<>();
    if (ranks * replicas * parallelism.parts() != devices || replicas > batching.samples()) {
      return all;
    }
    for (Choice choice : choices(request)) {
      if (ranks > 1 || choice.equals(choices(request).get(0))) {
        for (Arrangement arrangement : List.of(Arrangement.BY_RANK, Arrangement.BY_PIPELINE)) {
          Grid grid = grid(ranks, replicas, parallelism, arrangement, choice.chunks());
          for (ZeroStage states : sharding(grid)) {
            priced(choice, grid.sharding(states), batching, costs, request, oracle)
                .ifPresent(all::add);
          }
        }
      }
    }
    return all;
  }

  /** Pipelines do not shard parameters: each rank would gather them for each micro-batch. */
  private static List<ZeroStage> sharding(Grid grid) {
    return grid.sharding() == ZeroStage.OPTIMIZER && grid.ranks() == 1
        ? SHARDING
        : List.of(grid.sharding());
  }

  /** With optimizer states sharded where several devices have the same weights. */
  private static Grid grid(
      int ranks, int replicas, Parallelism parallelism, Arrangement arrangement, int chunks) {
    boolean tokens = parallelism.several() && parallelism.kind().dividesTokens();
    ZeroStage states = replicas > 1 || tokens ? ZeroStage.OPTIMIZER : ZeroStage.NOTHING;
    return new Grid(ranks, replicas, parallelism, arrangement, chunks, states);
  }

  private static Optional<ScheduledCuts> priced(
      Choice choice,
      Grid grid,
      MicroBatching batching,
      StageCosts costs,
      Request request,
      PipelineOracle oracle) {
    int[] path = OnePath.positions(costs.workload().chain());
    try {
      Optional<ScheduledCuts> cuts =
          ScheduledCuts.balanced(
              choice.entry(), grid, batching, costs, request, oracle, path, new HashMap<>());
      cuts.ifPresent(ScheduledCuts::price);
      return cuts;
    } catch (IllegalArgumentException e) { // no such schedule for these numbers
      return Optional.empty();
    }
  }

  @Test
  void smallInstancesAreAsGoodAsExhaustiveSearch() {
    areAsGoodAsExhaustiveSearch(Request.of(BATCH), false);
  }

  /** All stages recompute everything or nothing, under two schedules, pipelines side by side. */
  private static final Restriction ALL_OR_NOTHING =
      new Restriction() {
        @Override
        public boolean allows(String schedule) {
          return schedule.equals("1f1b") || schedule.equals("interleaved");
        }

        @Override
        public Optional<PipelinePlan> nearest(PipelinePlan plan) {
          if (!allows(plan.spec().scheduleName())) {
            return Optional.empty();
          }
          boolean none = plan.stages().stream().allMatch(s -> s.recompute() == Recompute.NONE);
          Recompute each = none ? Recompute.NONE : Recompute.STAGE_INPUT;
          return Optional.of(plan.with(plan.stages().stream().map(s -> s.with(each)).toList()));
        }
      };

  @Test
  void restrictedSearchesAreAsGoodAsExhaustiveSearch() {
    Request request = Request.of(BATCH).within(ALL_OR_NOTHING);
    int recomputing = 0;
    for (Candidate each : areAsGoodAsExhaustiveSearch(request, true)) {
      assertEquals(Optional.of(each.plan()), ALL_OR_NOTHING.nearest(each.plan()));
      recomputing += each.plan().stages().get(0).recompute() == Recompute.NONE ? 0 : 1;
    }
    assertTrue(recomputing > 10, "plans that recompute: " + recomputing);
  }

  /** All that is found. */
  private static List<Candidate> areAsGoodAsExhaustiveSearch(Request request, boolean little) {
    List<Candidate> all = new ArrayList<>();
    for (int instance = 0; instance < INSTANCES; instance++) {
      SplittableRandom random = new SplittableRandom(instance);
      StageCosts any = costs(random);
      StageCosts costs = little ? tight(any, random) : any;
      PipelineOracle oracle = new PipelineOracle(costs, new PathFormula());
      double expected = exhaustive(costs, request, NONE);
      all.addAll(
          asGoodAs(
              expected, costs, request, AutoPlanner.EFFORT, NONE, oracle, "instance " + instance));
    }
    return all;
  }

  /** What is found. */
  private static List<Candidate> asGoodAs(
      double expected,
      StageCosts costs,
      Request request,
      SearchEffort effort,
      List<Parallelism> kinds,
      PipelineOracle oracle,
      String what) {
    EqualPipelines pipelines = pipelines(costs, request, effort, kinds);
    List<Candidate> found = pipelines.search(oracle);
    assertEquals(Double.isFinite(expected), !found.isEmpty(), what);
    if (!found.isEmpty()) {
      double best = found.get(0).seconds();
      assertTrue(best <= expected * (1 + ROUNDING), what + ": " + best + " > " + expected);
      assertTrue(pipelines.leastSeconds() <= best * (1 + ROUNDING), what);
    }
    return found;
  }

  /** Mixtures of experts on two to four devices, some with less memory than the network needs. */
  @Test
  void smallMixturesAreAsGoodAsExhaustiveSearchOverContextAndExpertDegrees() {
    int gained = 0;
    int spread = 0;
    for (int instance = 0; instance < DIVIDED; instance++) {
      StageCosts costs = mixture(new SplittableRandom(instance));
      PipelineOracle oracle = new PipelineOracle(costs, new PathFormula());
      List<Parallelism> kinds = new ArrayList<>(List.of(Parallelism.NONE));
      for (int parts = 2; parts <= costs.workload().cluster().size(); parts *= 2) {
        kinds.add(Parallelism.of(Kind.CONTEXT, parts));
        kinds.add(Parallelism.of(Kind.EXPERT, parts));
      }
      String what = "instance " + instance;
      Request request = Request.of(BATCH);
      double all = exhaustive(costs, request, kinds);
      asGoodAs(all, costs, request, ALL_GRIDS, kinds, oracle, what);
      double whole = exhaustive(costs, request, NONE);
      gained += all < whole ? 1 : 0;
      spread += Double.isFinite(all) ? 1 : 0;
    }
    assertTrue(gained > DIVIDED / 10, "faster with divided tokens: " + gained);
    assertTrue(spread > DIVIDED / 2, "fit: " + spread);
  }

  static StageCosts mixture(SplittableRandom random) {
    String network =
        "mixtral:layers=%d,hidden=%d,heads=4,kv-heads=2,ffn=%d,sequence=%d,vocabulary=%d,experts=%d,chosen=2"
            .formatted(
                random.nextInt(1, 4),
                128 << random.nextInt(2),
                1024 << random.nextInt(4),
                256 << random.nextInt(5),
                1000 * random.nextInt(1, 4),
                4 << random.nextInt(2));
    StageCosts any = AutoPlannerTest.zoo(network, "dgx-h100:1x4");
    Workload of = any.workload();
    double bandwidth = Math.pow(10, random.nextDouble(11, 13));
    Cluster devices =
        Samples.plain(List.of(Link.of(1e-6, bandwidth)), random.nextBoolean() ? 2 : 4);
    double states = any.staticBytes(0, any.size());
    Bytes memory = Bytes.of(states * random.nextDouble(0.3, 3));
    return new StageCosts(
        new Workload(of.chain(), of.profile(), of.training(), devices.withMemory(memory)));
  }

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

  static PipelineBounds bounds(
      StageCosts costs, Parallelism parallelism, Recomputation recomputation) {
    int[] path = OnePath.positions(costs.workload().chain());
    DividedWork work = new DividedWork(costs, parallelism, path);
    return new PipelineBounds(costs, work, path, recomputation);
  }

  /** Layers that a machine divides, on a real network. */
  @ParameterizedTest
  @CsvSource({
    "SEQUENCE, 2, gpt",
    "SEQUENCE, 4, gpt",
    "TENSOR, 2, gpt",
    "TENSOR, 4, gpt",
    "CONTEXT, 2, llama",
    "CONTEXT, 4, mixtral",
    "CONTEXT, 8, llama",
    "EXPERT, 2, mixtral",
    "EXPERT, 4, mixtral",
    "EXPERT, 8, mixtral"
  })
  void noPipelineOfDividedLayersIsFasterThanItsBound(Kind kind, int parts, String family) {
    String sizes = ":layers=6,hidden=512,heads=8,sequence=128,vocabulary=1024";
    String experts = family.equals("mixtral") ? ",experts=8,chosen=2,ffn=512" : "";
    StageCosts costs = AutoPlannerTest.zoo(family + sizes + experts, "dgx-h100:2x4");
    PipelineOracle oracle = new PipelineOracle(costs, new PathFormula());
    SimulatedOracle simulator = new SimulatedOracle(oracle);
    Parallelism parallelism = Parallelism.of(kind, parts);
    PipelineBounds bounds = bounds(costs, parallelism, Recomputation.SELECTIVE);
    int priced = 0;
    List<Choice> choices = AutoPlanner.choices(Request.of(BATCH));
    int third = kind.name().length() + parts / 2; // of the schedules, not the same for all cases
    for (int at = third % 3; at < choices.size(); at += 3) {
      Choice choice = choices.get(at);
      for (int ranks = 1; ranks * parts <= 8; ranks *= 2) {
        for (int samples = 1; samples <= BATCH; samples *= 2) {
          int replicas = 8 / parts / ranks;
          Grid grid = grid(ranks, replicas, parallelism, Arrangement.BY_RANK, choice.chunks());
          MicroBatching batching = new MicroBatching(1, samples, BATCH / samples);
          if (replicas <= samples) {
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

  /** Balanced, and after some moves; none where there is no such schedule. */
  static List<ScheduledCuts> cuts(
      Choice choice,
      Grid grid,
      MicroBatching batching,
      StageCosts costs,
      Recomputation recomputation,
      PipelineOracle oracle) {
    int[] path = OnePath.positions(costs.workload().chain());
    Request request =
        Request.of(batching.samples() * batching.microBatches()).recomputing(recomputation);
    Map<List<Object>, Schedule> known = new HashMap<>(); // both begin with the same schedule
    List<ScheduledCuts> found = new ArrayList<>();
    try {
      for (int moves : new int[] {0, 10}) {
        ScheduledCuts.balanced(choice.entry(), grid, batching, costs, request, oracle, path, known)
            .ifPresent(cuts -> {
              cuts.price();
              cuts.improve(moves, () -> moves == 0);
              found.add(cuts);
            });
      }
    } catch (IllegalArgumentException e) { // no such schedule for these numbers
      return List.of();
    }
    return found;
  }
}
