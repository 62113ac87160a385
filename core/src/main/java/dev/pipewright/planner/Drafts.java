package dev.pipewright.planner;

import dev.pipewright.cost.StageCosts;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.PipelineSearch.Found;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.schedule.PipelinePolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Writes out as plans what searches and rules propose. */
final class Drafts {
  private final StageCosts costs;
  private final StageCosts searched;
  private final Optional<SelectiveRecomputation> selective;
  private final Recomputation recomputation;

  /**
   * For plans of a network.
   *
   * @param recomputation how whole stages recompute
   * @param searched the costs of searches, whose positions may be blocks of ours
   * @param selective of the searched positions, where stages may compute a part of them again
   */
  Drafts(
      StageCosts costs,
      StageCosts searched,
      Optional<SelectiveRecomputation> selective,
      Recomputation recomputation) {
    this.recomputation = recomputation;
    this.costs = costs;
    this.searched = searched;
    this.selective = selective;
  }

  /** The plan of a pipeline that a search found. */
  PipelinePlan plan(MicroBatching microBatching, PipelinePolicy policy, Found found) {
    List<StagePlan> stages = new ArrayList<>();
    int ahead = Integer.MAX_VALUE;
    for (int s = 0; s < found.stages(); s++) {
      int first = found.firsts()[s];
      int end = s + 1 < found.stages() ? found.firsts()[s + 1] : searched.size();
      Recompute recompute = found.recompute()[s] ? recomputation.ofStage() : Recompute.NONE;
      List<Integer> devices = found.devices().get(s);
      int wanted = policy.inFlightOf(found.stages() - 1 - s, microBatching.microBatches());
      if (policy == PipelinePolicy.ALL) {
        ahead = wanted; // whether there is room or not: the oracle says what does not fit
      } else {
        int room = room(first, end, recompute, microBatching, devices, wanted);
        ahead = Math.max(1, Math.min(ahead, room)); // more than the stage before never comes
      }
      int last = searched.inChain(end) - 1;
      StagePlan stage = new StagePlan(searched.inChain(first), last, devices, recompute, ahead);
      stages.add(
          selective.isPresent() && recompute != Recompute.NONE
              ? selective.get().of(stage, first, end, microBatching.samples())
              : stage);
    }
    return new PipelinePlan(
        policy,
        microBatching.microBatches(),
        microBatching.microBatch(),
        microBatching.unit(),
        false,
        stages);
  }

  /**
   * One stage on the first {@code count} devices, which recomputes where it has to or is told to;
   * empty if not allowed.
   */
  Optional<PipelinePlan> dataParallel(
      MicroBatching microBatching, int count, PipelinePolicy policy) {
    if (count > microBatching.samples()) {
      return Optional.empty();
    }
    List<Integer> devices = new ArrayList<>();
    for (int device = 0; device < count; device++) {
      devices.add(device);
    }
    int wanted = policy.inFlightOf(0, microBatching.microBatches());
    int all = searched.size();
    boolean keeps = room(0, all, Recompute.NONE, microBatching, devices, wanted) >= wanted;
    if (!keeps && recomputation == Recomputation.NEVER) {
      return Optional.empty();
    }
    boolean again = !keeps || recomputation.always();
    Recompute recompute = again ? recomputation.ofStage() : Recompute.NONE;
    StagePlan stage = new StagePlan(0, costs.size() - 1, devices, recompute, wanted);
    if (again && selective.isPresent()) {
      stage = selective.get().of(stage, 0, all, microBatching.samples());
    }
    return Optional.of(
        new PipelinePlan(
            policy,
            microBatching.microBatches(),
            microBatching.microBatch(),
            microBatching.unit(),
            false,
            List.of(stage)));
  }

  /** How many micro-batches of those wanted a stage of searched positions can hold. */
  int room(
      int first,
      int end,
      Recompute recompute,
      MicroBatching microBatching,
      List<Integer> devices,
      int wanted) {
    int slice = StageCosts.slice(microBatching.samples(), devices.size());
    boolean again = recompute != Recompute.NONE;
    double capacity = SelectiveRecomputation.capacity(searched, devices);
    double rest = searched.staticBytes(first, end) + searched.workingBytes(slice);
    if (again && selective.isPresent()) {
      return selective.get().tradeOffs(slice).room(first, end, wanted, capacity - rest);
    }
    double once = again ? searched.recomputedBytes(first, end, slice) : 0;
    rest += recomputation.beyondInputs(once, wanted);
    double each = again ? searched.inputBytes(first, slice) : searched.heldBytes(first, end, slice);
    return rest + wanted * each <= capacity ? wanted : (int) ((capacity - rest) / each);
  }
}
