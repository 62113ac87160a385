package dev.pipewright.cost;

import dev.pipewright.cluster.Cluster;
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
  private final Remembered<Parallelism, double[]> whole = new Remembered<>(); // bytes by cut

  StageTransfers(StageCosts costs, BiFunction<List<Integer>, Parallelism, StageGroups> groups) {
    this.costs = costs;
    this.groups = groups;
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
   * @param alike whether all stages divide layers alike
   */
  Seconds of(PipelinePlan plan, int index, boolean alike) {
    if (!plan.crosses(index)) {
      return Seconds.NONE;
    }
    Placement placement = plan.placement();
    if (placement.chains() == 1) { // stages of one rank have the same devices
      List<StagePlan> stages = plan.stages();
      return between(
          plan, index, alike, stages.get(index).devices(), stages.get(index + 1).devices());
    }
    List<List<Integer>> devices = plan.devicesByRank();
    Seconds longest = Seconds.NONE;
    for (int s = index; s < placement.stages(); s += placement.depth()) {
      longest =
          longest.or(
              between(
                  plan,
                  index,
                  alike,
                  devices.get(placement.rankOf(s)),
                  devices.get(placement.rankOf(s + 1))));
    }
    return longest;
  }

  private Seconds between(
      PipelinePlan plan, int index, boolean alike, List<Integer> from, List<Integer> to) {
    Cluster cluster = costs.workload().cluster();
    StagePlan stage = plan.stages().get(index);
    StagePlan next = plan.stages().get(index + 1);
    StageGroups before = groups.apply(from, stage.parallelism());
    StageGroups after = groups.apply(to, next.parallelism());
    double cut = costs.cutBytes()[stage.lastLayer() + 1];
    double bytes = cut * plan.microBatching();
    double gathered = // of a sample: what stays divided is not
        alike ? whole.of(stage.parallelism(), this::wholeBytes)[stage.lastLayer() + 1] : cut;
    double received = received(plan, index + 1, gathered);
    double returned = received(plan, index, gathered);
    return new Seconds(
        SplitConcat.betweenPasses(cluster, before.devices(), after.devices()).seconds(bytes)
            + after.tensor().allGather(received),
        SplitConcat.betweenPasses(cluster, after.devices(), before.devices()).seconds(bytes)
            + before.tensor().allGather(returned));
  }

  /** Bytes of a micro-batch that a device of a stage has of what crosses a cut: of its tokens. */
  private static double received(PipelinePlan plan, int stage, double cut) {
    int slice = StageCosts.slice(plan.microBatching(), plan.slices(stage));
    return cut * slice / plan.stages().get(stage).parallelism().copies();
  }

  /** Bytes of a sample over each cut that do not stay divided where all stages divide so. */
  private double[] wholeBytes(Parallelism split) {
    CutRegion region = new CutRegion(costs.workload().chain().graph(), split.ofCopy(), true);
    double[] bytes = costs.workload().profile().outputBytes();
    for (int layer = 0; layer < bytes.length; layer++) {
      bytes[layer] = region.staysCut(layer) ? 0 : bytes[layer];
    }
    return costs.cutBytes(bytes);
  }
}
