package dev.pipewright.execution;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.Collectives;
import dev.pipewright.cost.GradientOverlap;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.Split;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.function.IntFunction;

/**
 * Seconds in which the workers that hold a stage sum its gradients: those that hold the same, and
 * where the stage is split all of them those that its parts add up to.
 */
final class GradientSeconds {
  private final StageCosts costs; // of a worker's part of the stage
  private final StageLayers stage;
  private final Split split;
  private final Collectives same;
  private final Collectives all;
  private final Collectives teams;
  private final Collectives leaders;
  private final GradientBytes bytes;

  /**
   * @param device of each worker
   */
  GradientSeconds(StageCosts costs, Assignment assignment, int depth, IntFunction<Integer> device) {
    this.costs = costs;
    this.stage = assignment.stages().get(depth);
    this.split = stage.split();
    List<Integer> holders = assignment.holders(depth);
    TreeMap<Integer, List<Integer>> byPart = new TreeMap<>();
    TreeMap<Integer, List<Integer>> byTeam = new TreeMap<>();
    for (int worker : holders) {
      byPart.computeIfAbsent(assignment.partOf(worker), part -> new ArrayList<>()).add(worker);
      byTeam.computeIfAbsent(assignment.team(worker).get(0), t -> new ArrayList<>()).add(worker);
    }
    this.bytes = new GradientBytes(costs, assignment, depth);
    this.same = group(byPart.values(), device);
    this.all = group(List.of(holders), device);
    this.teams = group(byTeam.values(), device);
    this.leaders = group(List.of(List.copyOf(byTeam.keySet())), device);
  }

  private Collectives group(Iterable<List<Integer>> groups, IntFunction<Integer> device) {
    List<int[]> found = new ArrayList<>();
    for (List<Integer> workers : groups) {
      found.add(workers.stream().map(device::apply).mapToInt(Integer::intValue).sorted().toArray());
    }
    Cluster cluster = costs.workload().cluster();
    return Collectives.achieved(cluster, found.toArray(int[][]::new));
  }

  /** When the whole stage is summed behind its last backward pass. */
  double seconds() {
    return behind(stage.range().first());
  }

  /**
   * What is left of it behind the backward pass that it runs beside.
   *
   * @param slice samples of the pass
   * @param slowdown of the slowest device
   */
  double exposed(int slice, double slowdown) {
    int first = stage.range().first();
    int end = stage.range().last() + 1;
    return GradientOverlap.exposedSeconds(costs, first, end, slice, slowdown, this::behind);
  }

  /** Seconds for all positions from one on. */
  private double behind(int position) {
    double own = bytes.replicated() ? same.allReduce(bytes.own(position)) : 0;
    return own + together(bytes.together(position));
  }

  private double together(double shared) {
    if (shared == 0) {
      return 0;
    }
    if (!bytes.replicated()) {
      return all.allReduce(shared);
    }
    return switch (split.reduction()) {
      case FLAT -> all.allReduce(shared);
      case HIERARCHICAL ->
          teams.reduceScatter(shared)
              + same.allReduce(shared / split.parts())
              + teams.allGather(shared);
      case LEADERS ->
          (split.parts() - 1) * teams.pointToPoint(shared)
              + leaders.allReduce(shared)
              + teams.broadcast(shared);
    };
  }
}
