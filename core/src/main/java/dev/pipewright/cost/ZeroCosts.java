package dev.pipewright.cost;

import dev.pipewright.cost.StageCost.StageMemory;
import dev.pipewright.cost.StageCost.States;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.profile.Profile.Quantity;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.units.Check;
import java.util.Arrays;
import java.util.List;

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
  private final StageLoads loads;

  /**
   * @param costs of whole layers
   * @param plan that shards its states
   */
  ZeroCosts(StageCosts costs, PipelinePlan plan) {
    this.plan = plan;
    this.assignment = Assignment.of(plan);
    assignment.shardingRefusal().ifPresent(why -> Check.that(false, "%s", why));
    List<Integer> devices =
        plan.devicesByRank().stream().flatMap(List::stream).toList(); // by worker
    this.loads = new StageLoads(costs, assignment, devices);
  }

  private int rank(int stage) {
    return plan.placement().rankOf(stage);
  }

  private ZeroSeconds seconds(int stage) {
    return new ZeroSeconds(loads, assignment, rank(stage));
  }

  /** Seconds of a step's passes in which a device of a stage waits for parameters. */
  public double gatherSeconds(int stage) {
    return seconds(stage).stage(stage).gatherSeconds();
  }

  /** Seconds of a step's passes in which sums of gradients are not hidden. */
  public double sumSeconds(int stage) {
    ZeroTimeline own = seconds(stage).stage(stage);
    return assignment.sharding().level() > 1 ? own.sumSeconds() : 0;
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
    boolean split = plan.splitsBackward();
    double weight = split ? passes.seconds(Pass.BACKWARD_WEIGHT) : 0;
    double backward =
        split ? passes.seconds(Pass.BACKWARD_INPUT) + weight : passes.seconds(Pass.BACKWARD);
    double forward = passes.seconds(Pass.FORWARD) - loads.seconds(Quantity.FORWARD, stage, range);
    double summing = passes.behind() + seconds.spreading(stage, rank(stage));
    return new StageCost(
        whole.forwardSeconds() + forward,
        whole.backwardSeconds() + backward - computed,
        weight,
        0, // the mean of all micro-batches
        whole.sendSeconds(),
        whole.returnSeconds(),
        summing,
        summing,
        seconds.update(stage, rank(stage)),
        memory(stage, whole.memory()));
  }

  /** Bytes of gathered parameters and of gradients while they are summed, at their most. */
  public double bufferBytes(int stage) {
    return buffers(bytes(stage));
  }

  private static double buffers(ZeroBytes bytes) {
    return bytes.most() - bytes.gradients();
  }

  private ZeroBytes bytes(int stage) {
    StageCosts costs = loads.costs(stage);
    StagePlan own = plan.stages().get(stage);
    int[] layers = layers(costs, new LayerRange(own.firstLayer(), own.lastLayer()));
    int worker = assignment.firstWorker(rank(stage));
    return new ZeroBytes(costs, assignment, stage, worker, layers, passes(stage));
  }

  private StageMemory memory(int stage, StageMemory whole) {
    ZeroBytes bytes = bytes(stage);
    return new StageMemory(
        new States(bytes.parameters(), bytes.gradients(), bytes.resting() + bytes.gradients()),
        whole.heldBytes(),
        whole.lastBytes(),
        whole.inFlight(),
        whole.recomputedBytes(),
        whole.workingBytes() + buffers(bytes),
        whole.capacity());
  }

  /** Of a step, those that give gradients of a stage. */
  private int passes(int stage) {
    int passes = 0;
    for (long op : assignment.schedule().packed(rank(stage))) {
      boolean own = Schedule.stage(op) % plan.placement().depth() == stage;
      passes += own && Schedule.pass(op).releases() ? 1 : 0;
    }
    return passes;
  }

  /** The layers of the graph that a stage has, each after those that it reads. */
  private static int[] layers(StageCosts costs, LayerRange range) {
    int[] own = costs.workload().chain().layers(range.first() - 1, range.last());
    return Arrays.stream(costs.workload().chain().graph().topological())
        .filter(layer -> Arrays.stream(own).anyMatch(each -> each == layer))
        .toArray();
  }
}
