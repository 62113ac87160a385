package dev.pipewright.predict.run;

import dev.pipewright.cost.GradientOverlap;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import java.util.function.IntFunction;

/**
 * Seconds in which the workers that hold a stage sum its gradients: those that hold the same, and
 * where the stage is split all of them those that its parts add up to.
 */
final class GradientSeconds {
  private final StageCosts costs; // of a worker's part of the stage
  private final StageLayers stage;
  private final Parallelism split;
  private final HolderGroups groups;
  private final GradientBytes bytes;

  /**
   * @param device of each worker
   */
  GradientSeconds(StageCosts costs, Assignment assignment, int depth, IntFunction<Integer> device) {
    this.costs = costs;
    this.stage = assignment.stages().get(depth);
    this.split = stage.split();
    this.bytes = new GradientBytes(costs, assignment, depth);
    this.groups = HolderGroups.of(costs.workload().cluster(), assignment, depth, device);
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
    double own = bytes.replicated() ? groups.same().allReduce(bytes.own(position)) : 0;
    return own + together(bytes.together(position));
  }

  private double together(double shared) {
    if (shared == 0) {
      return 0;
    }
    if (!bytes.replicated()) {
      return groups.all().allReduce(shared);
    }
    return switch (split.reduction()) {
      case FLAT -> groups.all().allReduce(shared);
      case HIERARCHICAL ->
          groups.tensorGroups().reduceScatter(shared)
              + groups.same().allReduce(shared / split.parts())
              + groups.tensorGroups().allGather(shared);
      case LEADERS ->
          (split.parts() - 1) * groups.tensorGroups().pointToPoint(shared)
              + groups.leaders().allReduce(shared)
              + groups.tensorGroups().broadcast(shared);
    };
  }
}
