package dev.pipewright.cost;

import dev.pipewright.parallel.CutRegion;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.schedule.Placement;
import java.util.List;
import java.util.function.BiFunction;

/**
 * Seconds of the messages between the stages of a plan. Devices of a group that need a whole tensor
 * each receive a part and gather it; what stays divided between stages is not gathered.
 */
final class StageTransfers {
  private final StageCosts costs;
  private final BiFunction<List<Integer>, Parallelism, StageGroups> groups; // of devices
  private final StageMessages messages;
  private final Remembered<Parallelism, double[]> whole = new Remembered<>(); // bytes by cut

  StageTransfers(StageCosts costs, BiFunction<List<Integer>, Parallelism, StageGroups> groups) {
    this.costs = costs;
    this.groups = groups;
    this.messages = new StageMessages(costs.workload().cluster());
  }

  /** Seconds of a message from a stage to the next, and back. */
  record Seconds(double there, double back) {
    static final Seconds NONE = new Seconds(0, 0);

    Seconds or(Seconds other) {
      return new Seconds(Math.max(there, other.there), Math.max(back, other.back));
    }
  }

  /**
   * Over the cut behind a stage, the longest in any direction of the schedule.
   *
   * @param all groups of all stages
   * @param alike whether all stages divide layers alike
   */
  Seconds of(PipelinePlan plan, int index, List<StageGroups> all, boolean alike) {
    if (!plan.crosses(index)) {
      return Seconds.NONE;
    }
    Placement placement = plan.placement();
    if (placement.chains() == 1) { // stages of one rank have the same devices
      return between(plan, index, alike, all.get(index), all.get(index + 1));
    }
    List<List<Integer>> devices = plan.devicesByRank();
    Parallelism before = plan.stages().get(index).parallelism();
    Parallelism after = plan.stages().get(index + 1).parallelism();
    Seconds longest = Seconds.NONE;
    for (int s = index; s < placement.stages(); s += placement.depth()) {
      longest =
          longest.or(
              between(
                  plan,
                  index,
                  alike,
                  groups.apply(devices.get(placement.rankOf(s)), before),
                  groups.apply(devices.get(placement.rankOf(s + 1)), after)));
    }
    return longest;
  }

  private Seconds between(
      PipelinePlan plan, int index, boolean alike, StageGroups before, StageGroups after) {
    StagePlan stage = plan.stages().get(index);
    double cut = costs.cutBytes()[stage.lastLayer() + 1];
    double bytes = cut * plan.microBatching();
    double gathered = // of a sample: what stays divided is not
        alike ? whole.of(stage.parallelism(), this::wholeBytes)[stage.lastLayer() + 1] : cut;
    double received = received(plan, index + 1, gathered);
    double returned = received(plan, index, gathered);
    return new Seconds(
        messages.of(before, after).seconds(bytes) + after.tensor().allGather(received),
        messages.of(after, before).seconds(bytes) + before.tensor().allGather(returned));
  }

  /** Bytes of a micro-batch that a device of a stage has of what crosses a cut: of its tokens. */
  private static double received(PipelinePlan plan, int stage, double cut) {
    int slice = StageCosts.slice(plan.microBatching(), plan.slices(stage));
    return cut * slice / plan.stages().get(stage).parallelism().copies();
  }

  /** Bytes of a sample over each cut that do not stay divided where all stages divide so. */
  private double[] wholeBytes(Parallelism split) {
    CutRegion region = new CutRegion(costs.workload().chain().graph(), split, true);
    double[] bytes = costs.workload().profile().outputBytes();
    for (int layer = 0; layer < bytes.length; layer++) {
      bytes[layer] = region.staysCut(layer) ? 0 : bytes[layer];
    }
    return costs.cutBytes(bytes);
  }
}
