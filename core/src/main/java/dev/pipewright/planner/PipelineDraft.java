package dev.pipewright.planner;

import dev.pipewright.plan.PipelinePlan;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;

/** Devices and micro-batches of an equal pipeline, before its schedule and its cuts. */
final class PipelineDraft {
  private final Grid grid;
  private final MicroBatching batching;
  private final PipelineBounds bounds;
  private final boolean holds;
  private final double least;
  private final double filling;
  private final double bubble;
  private final Map<ScheduleShape, Bound> byShape = Collections.synchronizedMap(new HashMap<>());
  private boolean lacks;

  /** Seconds, and whether no bound was left out since they were enough. */
  private record Bound(double seconds, boolean all) {}

  /**
   * Of a grid.
   *
   * @param holds whether devices can hold the states
   */
  PipelineDraft(
      Grid grid, MicroBatching batching, PipelineBounds bounds, LayerLoads loads, boolean holds) {
    this.grid = grid;
    this.batching = batching;
    this.bounds = bounds;
    this.holds = holds;
    double behind = (grid.ranks() - 1.0) / grid.ranks();
    this.least = batching.microBatches() * loads.passes() / grid.ranks();
    this.filling = LayerLoads.sum(loads.forward()) * behind;
    this.bubble = loads.passes() * behind;
  }

  Grid grid() {
    return grid;
  }

  MicroBatching batching() {
    return batching;
  }

  /** Micro-batches by which it is priced. */
  MicroBatching few() {
    return batching.fewer(grid.ranks());
  }

  /** Whether devices can hold the states. */
  boolean holds() {
    return holds;
  }

  /** About the least that a step can take where each rank has one stage. */
  double rough() {
    return least + filling;
  }

  /** Seconds in which a rank waits for work, likewise. */
  double bubble() {
    return bubble;
  }

  /** That no step with a schedule of some shape is shorter than; infinite where none fits. */
  double bound(ScheduleShape shape) {
    return bound(shape, Double.POSITIVE_INFINITY);
  }

  /**
   * The same.
   *
   * @param enough no higher bound is asked for
   */
  double bound(ScheduleShape shape, double enough) {
    Bound known = byShape.get(shape);
    if (known == null || (!known.all() && known.seconds() < enough)) {
      double seconds = bounds.seconds(grid, batching, shape, enough);
      known = new Bound(seconds, seconds < enough);
      byShape.put(shape, known);
    }
    return known.seconds();
  }

  /**
   * The same of one schedule, with bounds that take longer.
   *
   * @param folded whether it is made for durations, with two stages on each rank
   * @param enough no higher bound is asked for
   */
  double bound(ScheduleShape shape, CountedSchedules.Facts facts, boolean folded, double enough) {
    double bound = bound(shape, enough);
    return bound >= enough
        ? bound
        : Math.max(bound, bounds.thorough(grid, batching, shape, facts, folded, enough));
  }

  /** The same by what stages keep alone. */
  double keeping(ScheduleShape shape, CountedSchedules.Facts facts, double enough) {
    double bound = bound(shape, enough);
    return bound >= enough
        ? bound
        : Math.max(bound, bounds.keeping(grid, batching, shape, facts.orders(), enough));
  }

  /** Remembers whether a plan of it overlaps sums of gradients, for lack of memory. */
  void learn(PipelinePlan plan) {
    lacks |= plan.overlapGradients();
  }

  /** Whether a plan of it has lacked memory. */
  boolean lacks() {
    return lacks;
  }
}
