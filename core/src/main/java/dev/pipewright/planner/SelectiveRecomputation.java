package dev.pipewright.planner;

import dev.pipewright.cost.StageCosts;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.Plan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.recompute.StageCheckpoints;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Lets the stages of a plan that compute all their layers again compute no more of them than memory
 * demands.
 */
final class SelectiveRecomputation {
  private final StageCosts costs;

  SelectiveRecomputation(StageCosts costs) {
    this.costs = costs;
  }

  /** The better plan; empty where no stage gains. */
  Optional<Plan> of(Plan plan) {
    if (!costs.total()) {
      return Optional.empty(); // layers of parallel branches are no runs
    }
    List<StagePlan> stages = new ArrayList<>();
    for (StagePlan stage : plan.stages()) {
      boolean all = stage.recompute() == Recompute.STAGE_INPUT;
      stages.add(all ? selective(plan, stage) : stage);
    }
    return stages.equals(plan.stages()) ? Optional.empty() : Optional.of(plan.with(stages));
  }

  private StagePlan selective(Plan plan, StagePlan stage) {
    int first = stage.firstLayer();
    int end = stage.lastLayer() + 1;
    double capacity = Double.POSITIVE_INFINITY;
    for (int device : stage.devices()) {
      capacity =
          Math.min(capacity, (double) costs.workload().cluster().device(device).memory().value());
    }
    int slice = StageCosts.slice(plan.wave(), stage.devices().size());
    double bytes = capacity - costs.staticBytes(first, end);
    Optional<List<LayerRange>> runs =
        StageCheckpoints.of(costs.layers(first, end, slice), stage.inFlight(), bytes);
    if (runs.isEmpty()) {
      return stage;
    }
    List<LayerRange> again =
        runs.get().stream()
            .map(run -> new LayerRange(first + run.first(), first + run.last()))
            .toList();
    int layers = again.stream().mapToInt(run -> run.last() - run.first() + 1).sum();
    return layers < end - first ? stage.selective(again) : stage;
  }
}
