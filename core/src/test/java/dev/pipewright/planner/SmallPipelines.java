package dev.pipewright.planner;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.Link;
import dev.pipewright.cost.PathFormula;
import dev.pipewright.cost.PipelineOracle;
import dev.pipewright.cost.Samples;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.planner.ScheduledPlanner.Choice;
import dev.pipewright.planner.partition.OnePath;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.schedule.search.ScheduleSearch;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;

/** Pipelines of a few layers on a few devices: all of them, priced. */
final class SmallPipelines {
  static final int BATCH = 8;
  static final List<Parallelism> NONE = List.of(Parallelism.NONE);

  private SmallPipelines() {}

  /** Levels that are tried, where states are sharded. */
  static final List<ZeroStage> SHARDING = List.of(ZeroStage.OPTIMIZER, ZeroStage.PARAMETERS);

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

  /** All grids with all schedules, without moving cuts; those that do not fit, too. */
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
    boolean uneven =
        parallelism.sampleParts() > 1
            && batching.samples() % (replicas * parallelism.sampleParts()) != 0;
    if (ranks * replicas * parallelism.parts() != devices
        || replicas > batching.samples()
        || uneven) {
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
  static Grid grid(
      int ranks, int replicas, Parallelism parallelism, Arrangement arrangement, int chunks) {
    boolean tokens = parallelism.several() && parallelism.dividesTokens();
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

  static PipelineBounds bounds(
      StageCosts costs, Parallelism parallelism, Recomputation recomputation) {
    int[] path = OnePath.positions(costs.workload().chain());
    DividedWork work = new DividedWork(costs, parallelism, path);
    return new PipelineBounds(costs, work, path, recomputation);
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
    Map<List<Object>, ScheduleSearch> known = new HashMap<>(); // both begin with the same
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
