package dev.pipewright.cost;

import dev.pipewright.cost.StageCost.StageMemory;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.profile.Profile.Quantity;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.units.Check;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;

/**
 * What ZeRO changes of the costs of a plan's stages: parameters are gathered and sums of gradients
 * scattered as {@link ZeroSeconds} runs them, states are held as {@link ZeroBytes} counts them.
 *
 * <p>Paper: S. Rajbhandari et al., <i>ZeRO</i>, SC 2020, §5 and §7. A stage of a bidirectional
 * schedule is priced on its rank of the first direction.
 */
public final class ZeroCosts {
  private final PipelinePlan plan;
  private final Assignment assignment;
  private final Assignment summing; // the same with gradients in buckets, as frameworks sum them
  private final StageLoads loads;
  private final Map<Integer, ZeroSeconds> seconds = new HashMap<>(); // by rank

  /**
   * @param costs of whole layers
   * @param parts what layers cost a device that computes its part of them
   * @param groups of devices that divide layers so
   * @param plan that shards its states
   */
  ZeroCosts(
      StageCosts costs,
      Function<Parallelism, StageCosts> parts,
      BiFunction<List<Integer>, Parallelism, StageGroups> groups,
      PipelinePlan plan) {
    this.plan = plan;
    this.assignment = Assignment.of(plan);
    boolean measured = costs.workload().profile().provenance().measured();
    this.summing = measured ? assignment : assignment.overlapping();
    assignment.shardingRefusal().ifPresent(why -> Check.that(false, "%s", why));
    List<Integer> devices =
        plan.devicesByRank().stream().flatMap(List::stream).toList(); // by worker
    this.loads = new StageLoads(costs, parts, groups, assignment, devices);
  }

  private int rank(int stage) {
    return plan.placement().rankOf(stage);
  }

  private ZeroSeconds seconds(int stage) {
    return seconds.computeIfAbsent(rank(stage), rank -> new ZeroSeconds(loads, assignment, rank));
  }

  /** Seconds of a step's passes in which a device of a stage waits for parameters. */
  public double gatherSeconds(int stage) {
    return seconds(stage).stage(stage).gatherSeconds();
  }

  /** Seconds of a step's passes in which sums of gradients are not hidden. */
  public double sumSeconds(int stage) {
    return seconds(stage).stage(stage).sumSeconds();
  }

  /**
   * A stage of the plan.
   *
   * @param whole what it costs where each device has all of its states
   */
  StageCost of(int stage, StageCost whole) {
    StagePlan own = plan.stages().get(stage);
    LayerRange range = new LayerRange(own.firstLayer(), own.lastLayer());
    ZeroSeconds seconds = seconds(stage);
    ZeroTimeline passes = seconds.stage(stage);
    double computed = loads.seconds(Quantity.BACKWARD, stage, range);
    for (LayerRange again : own.recomputed()) {
      computed += loads.seconds(Quantity.FORWARD, stage, again);
    }
    double weight = 0;
    double backward = passes.seconds(Pass.BACKWARD);
    if (plan.splitsBackward()) { // some passes at least
      double apart = passes.seconds(Pass.BACKWARD_WEIGHT);
      weight = apart > 0 ? apart : loads.seconds(Quantity.WEIGHT_GRADIENT, stage, range);
      backward = backward > 0 ? backward : passes.seconds(Pass.BACKWARD_INPUT) + apart;
    }
    double forward = passes.seconds(Pass.FORWARD) - loads.seconds(Quantity.FORWARD, stage, range);
    double summing = passes.afterPasses() + seconds.allGatherUpdated(stage);
    return new StageCost(
        whole.forwardSeconds() + forward,
        whole.backwardSeconds() + backward - computed,
        weight,
        0, // the mean of all micro-batches
        whole.sendSeconds(),
        whole.returnSeconds(),
        summing,
        summing,
        seconds.update(stage),
        memory(stage, whole.memory()));
  }

  /** Bytes that a device of a stage needs for its states beyond {@link ZeroBytes#reserved}. */
  public double bufferBytes(int stage) {
    return bytes(stage).buffers();
  }

  private ZeroBytes bytes(int stage) {
    int worker = assignment.firstWorker(rank(stage));
    return new ZeroBytes(loads.costs(stage), summing, stage, worker);
  }

  private StageMemory memory(int stage, StageMemory whole) {
    ZeroBytes bytes = bytes(stage);
    return new StageMemory(
        bytes.reserved(),
        whole.heldBytes(),
        whole.lastBytes(),
        whole.inFlight(),
        whole.recomputedBytes(),
        whole.workingBytes() + bytes.buffers(),
        whole.capacity());
  }
}
