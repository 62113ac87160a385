package dev.pipewright.planner;

import dev.pipewright.cost.DappleRepoOracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.planner.PlacementSpace.Step;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Prices stages as {@link DappleRepoOracle} does: the latency is {@code b(M−1)} plus one pass
 * through everything plus {@code max(0, max_i(AR_i − i·b))}, with b the slowest stage or transfer.
 *
 * <p>Label: b; the sum of transfers; then the all-reduce of each stage, zero where it cannot matter
 * any more. More stages than micro-batches are not considered: the score then falls when a stage
 * gets slower.
 */
final class RepoPricer implements StagePricer {
  private final StageCosts costs;
  private final DappleRepoOracle oracle;
  private final PlacementSpace space;
  private final int replicas;
  private final int wave;
  private final int microBatches;
  private final int mostStages;
  private final double[] seconds;
  private final List<int[]> devices = new ArrayList<>(); // by placement
  private final Map<Long, Double> transferSecondsPerByte = new HashMap<>();

  private final double[] opened;
  private int end;
  private int behind;
  private double limit;
  private int[] here = {};
  private double allReduceSecondsPerByte;

  RepoPricer(
      StageCosts costs,
      DappleRepoOracle oracle,
      PlacementSpace space,
      int replicas,
      int microBatch,
      int microBatches,
      int mostStages) {
    this.costs = costs;
    this.oracle = oracle;
    this.space = space;
    this.replicas = replicas;
    this.wave = replicas * microBatch;
    this.microBatches = microBatches;
    this.mostStages = mostStages;
    this.seconds = oracle.secondsPerSample();
    this.opened = new double[width()];
  }

  @Override
  public int width() {
    return 2 + mostStages;
  }

  @Override
  public void nothing(double[] pool, int at) {
    java.util.Arrays.fill(pool, at, at + width(), 0);
  }

  @Override
  public boolean open(double[] pool, int from, int behind, int end, Step step, double limit) {
    System.arraycopy(pool, from, opened, 0, opened.length);
    if (behind > 0) {
      double send = costs.cutBytes()[end] * wave * transfer(step.placement(), step.neighbour());
      opened[0] = Math.max(opened[0], send);
      opened[1] += send / replicas;
    }
    if (bound(opened, 0, 0, 1) > limit) {
      return false;
    }
    this.behind = behind;
    this.end = end;
    this.limit = limit;
    this.here = devices(step.placement());
    this.allReduceSecondsPerByte = oracle.allReduceSeconds(here, 1);
    return true;
  }

  @Override
  public Outcome stage(double[] pool, int first, int to) {
    double both = (seconds[end] - seconds[first]) * wave / here.length;
    if (both * (microBatches - 1) > limit) {
      return costs.workload().chain().total() ? Outcome.STOP : Outcome.SKIP;
    }
    double bottleneck = Math.max(opened[0], both);
    pool[to] = bottleneck;
    pool[to + 1] = opened[1];
    double worst = oracle.gradientBytes(first, end) * allReduceSecondsPerByte;
    pool[to + 2] = worst;
    for (int i = 1; i < mostStages; i++) {
      double tail = i <= behind ? opened[1 + i] : 0; // moves one place back
      boolean matters = tail > i * bottleneck && tail > worst;
      pool[to + 2 + i] = matters ? tail : 0;
      worst = Math.max(worst, tail);
    }
    return Outcome.KEEPS;
  }

  @Override
  public double bound(double[] pool, int at, int first, int free) {
    if (free == 0) {
      return Double.POSITIVE_INFINITY;
    }
    double bottleneck = Math.max(pool[at], seconds[first] * wave / free);
    return bottleneck * (microBatches - 1) + once(pool, at);
  }

  private double once(double[] pool, int at) {
    return seconds[costs.size()] * wave / replicas + pool[at + 1];
  }

  @Override
  public double seconds(double[] pool, int at) {
    double tail = 0;
    for (int i = 0; i < mostStages; i++) {
      tail = Math.max(tail, pool[at + 2 + i] - i * pool[at]);
    }
    return pool[at] * (microBatches - 1) + once(pool, at) + tail;
  }

  private int[] devices(int placement) {
    while (devices.size() <= placement) {
      devices.add(space.devices(devices.size()));
    }
    return devices.get(placement);
  }

  private double transfer(int from, int to) {
    return transferSecondsPerByte.computeIfAbsent(
        (long) from << 32 | to,
        key -> oracle.transferSeconds(devices(from), devices(to), 1));
  }
}
