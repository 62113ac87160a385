package dev.pipewright.planner;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.DappleRepoOracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.planner.Planning.LowerBound;
import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.Stream;

/** Step times that no synchronous plan can go below, whatever it looks like. */
public final class LowerBounds {
  private static final Comparator<LowerBound> HIGHEST =
      Comparator.comparingDouble(LowerBound::value);

  private final StageCosts costs;
  private final Cluster cluster;
  private final int globalBatch;

  private LowerBounds(StageCosts costs, int globalBatch) {
    this.costs = costs;
    this.cluster = costs.workload().cluster();
    this.globalBatch = globalBatch;
  }

  /** The highest of them, as far as the cost model has to pay for what they count. */
  static LowerBound best(StageCosts costs, int globalBatch, CostModel costModel) {
    LowerBounds bounds = new LowerBounds(costs, globalBatch);
    return switch (costModel) {
      case DAPPLE_PUBLISHED ->
          new LowerBound(0, "the published formula may charge less than all work");
      case DAPPLE_REPO -> bounds.proportionalWork();
      default -> {
        LowerBound work = bounds.work();
        LowerBound path = bounds.path();
        LowerBound memory = costModel == CostModel.PIPEWRIGHT ? bounds.memory(work) : work;
        LowerBound plain = Stream.of(work, path, memory).max(HIGHEST).orElseThrow();
        LowerBound split = SplitBounds.of(costs, globalBatch, costModel.formula().pathsAddUp());
        boolean higher = split.value() > plain.value() * (1 + 1e-9);
        yield higher && Double.isFinite(split.value()) ? split : plain; // infinite: nothing fits
      }
    };
  }

  /**
   * Of plans of a given one's kind. Stages that divide layers, share devices or shard states leave
   * no more than the work to count on.
   */
  static LowerBound of(PipelinePlan plan, StageCosts costs, int globalBatch, CostModel costModel) {
    boolean ofStages =
        plan.placement().depth() == plan.placement().ranks()
            && plan.placement().chains() == 1
            && plan.sharding() == ZeroStage.NOTHING
            && plan.stages().stream().noneMatch(stage -> stage.parallelism().several());
    if (ofStages && plan.splitsBackward()) {
      return inAnyOrder(costs, globalBatch);
    }
    return ofStages || costModel != CostModel.PIPEWRIGHT
        ? best(costs, globalBatch, costModel)
        : new LowerBounds(costs, globalBatch).work();
  }

  /**
   * A step of the fastest device doing everything at its best batch sizes, its update included
   * where the cost model knows updates.
   */
  public static double oneDeviceSeconds(StageCosts costs, int globalBatch, CostModel costModel) {
    double passes = serialSeconds(costs, globalBatch);
    return costModel == CostModel.DAPPLE_REPO
        ? passes
        : (passes + costs.updateSeconds()[costs.size()]) * costs.fastest();
  }

  /**
   * Of hybrids whose stages run in any order, gradients of weights put off or not: work, sums of
   * gradients and transfers of every way to cut; on small clusters filling, too.
   */
  static LowerBound inAnyOrder(StageCosts costs, int globalBatch) {
    LowerBound work = new LowerBounds(costs, globalBatch).work();
    LowerBound split = SplitBounds.of(costs, globalBatch, false);
    boolean higher = split.value() > work.value() && Double.isFinite(split.value());
    return FillingBound.raised(higher ? split : work, costs, globalBatch, true);
  }

  /** Seconds in which all devices together do all passes without loss. */
  public static double workSeconds(StageCosts costs, int globalBatch) {
    return new LowerBounds(costs, globalBatch).work().value();
  }

  /**
   * Seconds of devices, taken together, that all passes take at the pace of the fastest. Other cost
   * models than the default one may charge less.
   */
  public static double deviceSeconds(StageCosts costs, int globalBatch) {
    return serialSeconds(costs, globalBatch) * costs.fastest();
  }

  /** Passes of all layers on one device at its best batch sizes. */
  private static double serialSeconds(StageCosts costs, int globalBatch) {
    double[] once = costs.cheapestSecondsPerSample(globalBatch);
    return once[costs.size()] * globalBatch;
  }

  /** Devices are alike there, and time is in proportion to samples. */
  private LowerBound proportionalWork() {
    double once = new DappleRepoOracle(costs).secondsPerSample()[costs.size()];
    return new LowerBound(once * globalBatch / cluster.size(), "work / devices");
  }

  /** All work, shared by all devices without loss. */
  private LowerBound work() {
    double rate = 0; // devices, in units of the profile's
    for (int device = 0; device < cluster.size(); device++) {
      rate += 1 / costs.slowdown(device);
    }
    return new LowerBound(serialSeconds(costs, globalBatch) / rate, "work / devices");
  }

  /**
   * A sample goes through all layers, there and back, and over as many cuts as memory demands: a
   * device cannot hold the states of more layers than fit.
   */
  private LowerBound path() {
    double layers = costs.cheapestSecondsPerSample(globalBatch)[costs.size()] * costs.fastest();
    int stages = leastStages();
    double[] bytes = Arrays.copyOfRange(costs.cutBytes(), 1, costs.size());
    Arrays.sort(bytes);
    double crossing = 0;
    for (int cut = 0; cut < Math.min(stages - 1, bytes.length); cut++) {
      crossing += 2 * bytes[cut] / bandwidth();
    }
    return new LowerBound(
        layers + crossing,
        stages == 1
            ? "a sample through all layers"
            : "a sample through all layers and the " + (stages - 1) + " cuts that memory demands");
  }

  /**
   * A slice keeps what a layer keeps while it goes through all layers behind it and back. Bytes
   * times seconds of all samples are at most the memory that one copy of the states leaves on all
   * devices, times the step; layers that are recomputed keep nothing here, and cost their forward
   * pass a second time.
   */
  private LowerBound memory(LowerBound work) {
    double free = -costs.staticBytes(0, costs.size());
    double rate = 0;
    for (int device = 0; device < cluster.size(); device++) {
      free += cluster.device(device).memory().value();
      rate += 1 / costs.slowdown(device);
    }
    if (free <= 0 || !costs.total()) {
      return work;
    }
    double[] both = costs.cheapestSecondsPerSample(globalBatch);
    double[] forward = costs.cheapestForwardSecondsPerSample(globalBatch);
    double[] held = new double[costs.size()];
    double[] again = new double[costs.size()];
    for (int at = 0; at < held.length; at++) {
      double kept = Math.max(0, costs.keptBytes()[at + 1] - costs.keptBytes()[at]);
      held[at] = kept * (both[costs.size()] - both[at]) * costs.fastest();
      again[at] = Math.max(0, forward[at + 1] - forward[at]);
    }
    double perSecond = globalBatch / rate;
    double seconds =
        new LeastRecomputation(held, again)
            .step(work.value(), more -> work.value() + more * perSecond, free / globalBatch);
    return new LowerBound(seconds, "work, and memory for what micro-batches keep on their way");
  }

  private int leastStages() {
    double most = cluster.mostMemory().value();
    double states = costs.staticBytes(0, costs.size());
    return (int) Math.clamp(Math.ceil(states / most - 1e-9), 1, costs.size());
  }

  /** Bytes per second over all ports of the fastest link. */
  private double bandwidth() {
    return cluster.levels().stream().mapToDouble(LeastTimes::bytesPerSecond).max().orElse(0);
  }
}
