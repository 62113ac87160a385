package dev.pipewright.planner;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.DappleRepoOracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.planner.Planning.LowerBound;
import java.util.Arrays;

/** Step times that no synchronous plan can go below, whatever it looks like. */
public final class LowerBounds {
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
        LowerBound plain = path.value() > work.value() ? path : work;
        LowerBound split = SplitBounds.of(costs, globalBatch, costModel.formula().pathsAddUp());
        boolean higher = split.value() > plain.value() * (1 + 1e-9);
        yield higher && Double.isFinite(split.value()) ? split : plain; // infinite: nothing fits
      }
    };
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
