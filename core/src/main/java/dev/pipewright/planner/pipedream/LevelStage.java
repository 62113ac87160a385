package dev.pipewright.planner.pipedream;

import java.util.List;

/**
 * A stage of one level's pipeline.
 *
 * @param part its layers and units of the level below
 * @param computing seconds that one unit takes for a mini-batch
 * @param exchange seconds of summing gradients, before the units share them
 * @param before seconds of the transfers over the cut before it, as it is charged with them
 * @param after seconds of those over the cut after it
 * @param inside the pipeline of the level below, in each unit alike; empty where units are devices
 */
record LevelStage(
    RowSearch.Part part,
    double computing,
    double exchange,
    double before,
    double after,
    List<LevelStage> inside) {
  LevelStage {
    inside = List.copyOf(inside);
  }

  /** Seconds per mini-batch without transfers. */
  double seconds() {
    return (computing + exchange) / part.units();
  }
}
