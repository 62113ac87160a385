package dev.pipewright.planner;

import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.ScheduleSpec;
import java.util.ArrayList;
import java.util.List;

/** Writes out as plans the cuts of an equal pipeline. */
final class CutPlans {
  private final Grid grid;
  private final MicroBatching batching;
  private final Request request;
  private final int[] path;

  /**
   * Of a grid.
   *
   * @param path positions after which stages may end
   */
  CutPlans(Grid grid, MicroBatching batching, Request request, int[] path) {
    this.grid = grid;
    this.batching = batching;
    this.request = request;
    this.path = path;
  }

  /**
   * The plan, or the one most like it under the request's restriction.
   *
   * @param cuts the first layer of each stage, in positions of the path
   * @param share of the layers of each stage that are recomputed
   * @param overlaps whether gradients are summed during the last backward pass
   * @throws IllegalArgumentException where none with this order of work keeps the restriction
   */
  PipelinePlan plan(
      ScheduleSpec order, int microBatches, int[] cuts, double[] share, boolean overlaps) {
    Placement placement = order.placement(cuts.length);
    int[] inFlight = order.inFlight(cuts.length, microBatches);
    List<StagePlan> stages = new ArrayList<>();
    for (int stage = 0; stage < cuts.length; stage++) {
      int next = stage + 1 < cuts.length ? cuts[stage + 1] : path.length;
      StagePlan keeping =
          new StagePlan(
              cuts[stage] == 0 ? 0 : path[cuts[stage] - 1] + 1,
              path[next - 1],
              grid.devices(placement.rankOf(stage)),
              grid.parallelism(),
              Recompute.NONE,
              inFlight[stage],
              List.of());
      stages.add(recomputing(keeping, share[stage]));
    }
    PipelinePlan plan =
        new PipelinePlan(
            order,
            microBatches,
            batching.microBatch(),
            batching.unit(),
            overlaps,
            stages,
            grid.sharding());
    return request
        .restriction()
        .nearest(plan)
        .filter(near -> alike(near, plan))
        .orElseThrow(() -> new IllegalArgumentException("no such plan keeps the restriction"));
  }

  /** Whether stages and micro-batches are as many, and the order of work is the same. */
  private static boolean alike(PipelinePlan one, PipelinePlan other) {
    return one.stages().size() == other.stages().size()
        && one.microBatches() == other.microBatches()
        && one.microBatching() == other.microBatching()
        && one.spec().equals(other.spec());
  }

  /** The first layers of a stage are recomputed. */
  private StagePlan recomputing(StagePlan stage, double share) {
    int layers = stage.lastLayer() - stage.firstLayer() + 1;
    int count = (int) Math.ceil(layers * share);
    if (count == 0) {
      return stage;
    }
    return count == layers
        ? stage.with(request.recomputation().ofStage())
        : stage.selective(
            List.of(new LayerRange(stage.firstLayer(), stage.firstLayer() + count - 1)));
  }
}
