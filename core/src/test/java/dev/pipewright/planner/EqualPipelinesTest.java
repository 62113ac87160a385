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
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EqualPipelinesTest {
  private static final int INSTANCES = 200;
  private static final int BATCH = 8;
  private static final double ROUNDING = 1e-9;
  private static final List<ZeroStage> SHARDING = List.of(ZeroStage.OPTIMIZER);

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
  private static StageCosts tight(StageCosts costs, SplittableRandom random) {
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
      StageCosts costs, Request request, EqualPipelines.Effort effort) {
    EqualPipelines pipelines =
        new EqualPipelines(costs, request, choices(request), effort, () -> false);
    pipelines.add(Parallelism.NONE, SHARDING);
    return pipelines;
  }

  /** All grids with all schedules, none left out, without moving cuts. */
  private static double exhaustive(StageCosts costs, Request request) {
    return all(costs, request).stream()
        .filter(ScheduledCuts::fits)
        .mapToDouble(ScheduledCuts::seconds)
        .min()
        .orElse(Double.POSITIVE_INFINITY);
  }

  /** The same, those that do not fit, too. */
  static List<ScheduledCuts> all(StageCosts costs, Request request) {
    PipelineOracle oracle = new PipelineOracle(costs, new PathFormula());
    List<ScheduledCuts> all = new ArrayList<>();
    int devices = costs.workload().cluster().size();
    for (MicroBatching batching : MicroBatching.of(request, devices)) {
      for (int ranks = 1; ranks <= devices; ranks++) {
        int replicas = devices / ranks;
        if (ranks * replicas == devices && replicas <= batching.samples()) {
          for (Choice choice : choices(request)) {
            if (ranks > 1 || choice.equals(choices(request).get(0))) {
              for (boolean neighbours : new boolean[] {true, false}) {
                Grid grid =
                    new Grid(
                        ranks,
                        replicas,
                        Parallelism.NONE,
                        neighbours,
                        choice.chunks(),
                        replicas > 1 ? ZeroStage.OPTIMIZER : ZeroStage.NOTHING);
                priced(choice, grid, batching, costs, request, oracle).ifPresent(all::add);
              }
            }
          }
        }
      }
    }
    return all;
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
      double expected = exhaustive(costs, request);
      EqualPipelines pipelines = pipelines(costs, request, AutoPlanner.EFFORT);
      List<Candidate> found = pipelines.search(oracle);
      all.addAll(found);
      assertEquals(Double.isFinite(expected), !found.isEmpty(), "instance " + instance);
      if (!found.isEmpty()) {
        double best = found.get(0).seconds();
        assertTrue(best <= expected * (1 + ROUNDING), "instance " + instance);
        assertTrue(pipelines.leastSeconds() <= best * (1 + ROUNDING), "instance " + instance);
      }
    }
    return all;
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
                  random.nextBoolean(),
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

  private static PipelineBounds bounds(
      StageCosts costs, Parallelism parallelism, Recomputation recomputation) {
    int[] path = OnePath.positions(costs.workload().chain());
    DividedWork work = new DividedWork(costs, parallelism, path);
    return new PipelineBounds(costs, work, path, recomputation);
  }

  /** Layers that a machine divides, on a real network. */
  @ParameterizedTest
  @CsvSource({"SEQUENCE, 2", "SEQUENCE, 4", "TENSOR, 2", "TENSOR, 4"})
  void noPipelineOfDividedLayersIsFasterThanItsBound(Kind kind, int parts) {
    StageCosts costs =
        AutoPlannerTest.zoo(
            "gpt:layers=6,hidden=512,heads=8,sequence=128,vocabulary=1024", "dgx-h100:2x4");
    PipelineOracle oracle = new PipelineOracle(costs, new PathFormula());
    SimulatedOracle simulator = new SimulatedOracle(oracle);
    Parallelism parallelism = Parallelism.of(kind, parts);
    PipelineBounds bounds = bounds(costs, parallelism, Recomputation.SELECTIVE);
    int priced = 0;
    for (Choice choice : AutoPlanner.choices(Request.of(BATCH))) {
      for (int ranks = 1; ranks * parts <= 8; ranks *= 2) {
        for (int samples = 1; samples <= BATCH; samples *= 2) {
          int replicas = 8 / parts / ranks;
          ZeroStage states = replicas > 1 ? ZeroStage.OPTIMIZER : ZeroStage.NOTHING;
          Grid grid = new Grid(ranks, replicas, parallelism, true, choice.chunks(), states);
          MicroBatching batching = new MicroBatching(1, samples, BATCH / samples);
          if (replicas <= samples) {
            double bound = bounds.seconds(grid, batching, ScheduleShape.of(choice));
            for (ScheduledCuts cuts :
                cuts(choice, grid, batching, costs, Recomputation.SELECTIVE, oracle)) {
              double simulated = simulator.assess(cuts.plan()).stepSeconds();
              String what = choice.entry().name() + " " + grid + " " + batching;
              assertTrue(bound <= simulated * (1 + ROUNDING), what);
              priced++;
            }
          }
        }
      }
    }
    assertTrue(priced > 20, "priced " + priced);
  }

  /** Balanced, and after some moves; none where there is no such schedule. */
  private static List<ScheduledCuts> cuts(
      Choice choice,
      Grid grid,
      MicroBatching batching,
      StageCosts costs,
      Recomputation recomputation,
      PipelineOracle oracle) {
    List<ScheduledCuts> found = new ArrayList<>();
    try {
      for (int moves : new int[] {0, 10}) {
        ScheduledCuts.balanced(choice.entry(), grid, batching, costs, recomputation, oracle)
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
