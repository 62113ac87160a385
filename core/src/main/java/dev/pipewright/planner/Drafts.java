package dev.pipewright.planner;

import dev.pipewright.cost.StageCosts;
import dev.pipewright.plan.Plan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.PipelineSearch.Found;
import dev.pipewright.planner.Request.Recomputation;
import dev.pipewright.schedule.WarmUp;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Writes out as plans what searches and rules propose. */
final class Drafts {
  private final StageCosts costs;

  Drafts(StageCosts costs) {
    this.costs = costs;
  }

  /**
   * The plan of a pipeline that a search found.
   *
   * @param searched the costs of the search, whose positions may be blocks of ours
   */
  Plan plan(Wave wave, WarmUp policy, StageCosts searched, Found found) {
    List<StagePlan> stages = new ArrayList<>();
    int ahead = Integer.MAX_VALUE;
    for (int s = 0; s < found.stages(); s++) {
      int first = searched.inChain(found.firsts()[s]);
      int end = s + 1 < found.stages() ? searched.inChain(found.firsts()[s + 1]) : costs.size();
      Recompute recompute = found.recompute()[s] ? Recompute.STAGE_INPUT : Recompute.NONE;
      int wanted = policy.inFlightOf(found.stages() - 1 - s, wave.microBatches());
      int room = room(first, end, recompute, wave, found.devices().get(s), wanted);
      ahead = Math.max(1, Math.min(ahead, room)); // more than the stage before never comes
      stages.add(new StagePlan(first, end - 1, found.devices().get(s), recompute, ahead));
    }
    return new Plan(policy, wave.microBatches(), wave.microBatch(), wave.unit(), false, stages);
  }

  /**
   * One stage on the first {@code count} devices, which recomputes where it has to or is told to;
   * empty if not allowed.
   */
  Optional<Plan> dataParallel(Wave wave, int count, WarmUp policy, Recomputation recomputation) {
    if (count > wave.samples()) {
      return Optional.empty();
    }
    List<Integer> devices = new ArrayList<>();
    for (int device = 0; device < count; device++) {
      devices.add(device);
    }
    int wanted = policy.inFlightOf(0, wave.microBatches());
    boolean keeps = room(0, costs.size(), Recompute.NONE, wave, devices, wanted) >= wanted;
    if (!keeps && recomputation == Recomputation.NEVER) {
      return Optional.empty();
    }
    Recompute recompute =
        keeps && recomputation != Recomputation.ALWAYS ? Recompute.NONE : Recompute.STAGE_INPUT;
    StagePlan stage = new StagePlan(0, costs.size() - 1, devices, recompute, wanted);
    return Optional.of(
        new Plan(
            policy, wave.microBatches(), wave.microBatch(), wave.unit(), false, List.of(stage)));
  }

  /** The same plan with all-reduce during the last backward pass. */
  static Plan overlapped(Plan plan) {
    return new Plan(
        plan.warmUp(),
        plan.microBatches(),
        plan.microBatch(),
        plan.replicas(),
        true,
        plan.stages());
  }

  /** How many micro-batches of those wanted a stage can hold. */
  int room(int first, int end, Recompute recompute, Wave wave, List<Integer> devices, int wanted) {
    double capacity = Double.POSITIVE_INFINITY;
    for (int device : devices) {
      capacity =
          Math.min(capacity, (double) costs.workload().cluster().device(device).memory().value());
    }
    int slice = StageCosts.slice(wave.samples(), devices.size());
    boolean again = recompute == Recompute.STAGE_INPUT;
    double rest =
        costs.staticBytes(first, end) + (again ? costs.recomputedBytes(first, end, slice) : 0);
    double each = again ? costs.inputBytes(first, slice) : costs.heldBytes(first, end, slice);
    return rest + wanted * each <= capacity ? wanted : (int) ((capacity - rest) / each);
  }

  /** What a plan is called in lists. */
  static String kind(Plan plan) {
    if (plan.stages().size() == 1) {
      if (plan.stages().get(0).replicas() == 1) {
        return "one device";
      }
      return plan.overlapGradients() ? "data parallel, overlapped" : "data parallel";
    }
    boolean straight =
        plan.stages().stream().allMatch(stage -> stage.replicas() == plan.replicas());
    return straight ? "straight pipeline" : "hybrid";
  }
}
