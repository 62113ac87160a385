package dev.pipewright.planner;

import dev.pipewright.cost.DappleRepoOracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.planner.PlacementSpace.Step;
import java.util.ArrayList;
import java.util.List;

/**
 * Prices stages as {@link DappleRepoOracle} does: the latency is {@code b(M−1)} plus one pass
 * through everything plus {@code max(0, max_i(AR_i − i·b))}, with b the slowest stage or transfer.
 *
 * <p>Label: b, or what it will be at least; the sum of transfers; then the all-reduce of each
 * stage, zero where it cannot matter any more. With more stages than micro-batches the score may
 * fall when a stage gets slower, so that few labels cover others.
 */
final class RepoPricer implements StagePricer {
  private final StageCosts costs;
  private final DappleRepoOracle oracle;
  private final PlacementSpace space;
  private final PrefixBound prefixes;
  private final int replicas;
  private final double
      microBatching; // samples of a micro-batch over all replicas, fractions included
  private final int microBatches;
  private final int mostStages;
  private final double[] seconds;
  private final List<int[]> devices = new ArrayList<>(); // by placement
  private final List<Double> transferSecondsPerByte = new ArrayList<>(); // by pair

  private final double[] opened;
  private int end;
  private int left; // devices for the layers before
  private int behind;
  private double limit;
  private int[] here = {};
  private double allReduceSecondsPerByte;

  RepoPricer(
      StageCosts costs,
      DappleRepoOracle oracle,
      PlacementSpace space,
      MicroBatching microBatching,
      int globalBatch,
      int mostStages) {
    this.costs = costs;
    this.oracle = oracle;
    this.space = space;
    this.replicas = microBatching.unit();
    this.microBatching = (double) globalBatch / microBatching.microBatches();
    this.microBatches = microBatching.microBatches();
    this.mostStages = mostStages;
    this.seconds = oracle.secondsPerSample();
    this.opened = new double[width()];
    this.prefixes = prefixes();
  }

  private PrefixBound prefixes() {
    double[] even = seconds.clone();
    for (int i = 0; i < even.length; i++) {
      even[i] *= microBatching;
    }
    return PrefixBound.of(
        costs,
        even,
        space.grain(),
        space.counts(),
        new PrefixBound.Prices() {
          @Override
          public double[] seconds(int devices) {
            double[] shared = even.clone();
            for (int i = 0; i < shared.length; i++) {
              shared[i] /= devices;
            }
            return shared;
          }

          @Override
          public boolean allows(int devices) {
            return true;
          }

          @Override
          public boolean sums() {
            return false;
          }

          @Override
          public int repeats() {
            return Math.max(1, microBatches - 1);
          }
        },
        Double.POSITIVE_INFINITY);
  }

  @Override
  public void prepare(double limit) {
    // its bounds do not depend on the limit
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
  public int open(double[] pool, int from, int behind, int end, Step step, double limit) {
    System.arraycopy(pool, from, opened, 0, opened.length);
    if (behind > 0) {
      double send = oracle.cutBytes()[end] * microBatching * transfer(step.pair());
      opened[0] = Math.max(opened[0], send);
      opened[1] += send / replicas;
    }
    if (opened[0] * (microBatches - 1) + once(opened, 0) > limit) {
      return -1;
    }
    this.behind = behind;
    this.end = end;
    this.limit = limit;
    this.here = devices(step.placement());
    this.allReduceSecondsPerByte = oracle.allReduceSeconds(here, 1);
    this.left = space.freeDevices(step.next());
    return microBatches == 1
        ? end - 1
        : prefixes.latest(end, left, (limit - once(opened, 0)) / (microBatches - 1));
  }

  @Override
  public Outcome stage(double[] pool, int first, int to) {
    double both = (seconds[end] - seconds[first]) * microBatching / here.length;
    if (both * (microBatches - 1) > limit - once(opened, 0)) {
      return prefixes.tooLong(first, end, here.length, limit / (microBatches - 1))
          ? Outcome.STOP
          : Outcome.SKIP;
    }
    double bottleneck = Math.max(opened[0], both);
    if (first > 0) {
      bottleneck =
          Math.max(
              bottleneck, left == 0 ? Double.POSITIVE_INFINITY : prefixes.slowest(first, left));
    }
    pool[to] = bottleneck;
    pool[to + 1] = opened[1];
    double worst = oracle.gradientBytes(first, end) * allReduceSecondsPerByte;
    int later = first > 0 ? 1 : 0; // places by which the stage will move back at least
    pool[to + 2] = worst > later * bottleneck ? worst : 0;
    for (int i = 1; i < mostStages; i++) {
      double tail = i <= behind ? opened[1 + i] : 0; // moves one place back
      boolean matters = tail > (i + later) * bottleneck && tail > worst;
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
    double bottleneck = Math.max(pool[at], prefixes.slowest(first, free));
    int later = Math.min(first, free / space.unit()); // stages that may still come before
    double steady = bottleneck * (microBatches - 1);
    double longest = steady;
    for (int i = 0; i < mostStages; i++) {
      double tail = pool[at + 2 + i];
      if (tail > 0 && i + later < microBatches) {
        longest = Math.max(longest, steady + tail - (i + later) * bottleneck);
      }
    }
    return longest + once(pool, at);
  }

  private double once(double[] pool, int at) {
    return seconds[costs.size()] * microBatching / replicas + pool[at + 1];
  }

  @Override
  public boolean comparesAcrossStages() {
    return true;
  }

  /** Compares what is left of the all-reduces as functions of the final b, not one by one. */
  @Override
  public boolean covers(double[] pool, int a, int b) {
    if (pool[a] > pool[b] || pool[a + 1] > pool[b + 1]) {
      return false;
    }
    boolean slowerMayHelp = mostStages > microBatches && pool[a] < pool[b];
    for (int i = 0; i < mostStages; i++) {
      double tail = pool[a + 2 + i];
      if (tail > 0 && (slowerMayHelp || !outdone(pool, b, i, tail))) {
        return false;
      }
    }
    return true;
  }

  /**
   * Whether an all-reduce of {@code b} ends no earlier than one of {@code tail} at place {@code i}.
   */
  private static boolean outdone(double[] pool, int b, int i, double tail) {
    for (int j = 0; j <= i; j++) {
      if (pool[b + 2 + j] >= tail - (i - j) * pool[b]) {
        return true;
      }
    }
    return false;
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

  private double transfer(int pair) {
    while (transferSecondsPerByte.size() <= pair) {
      int next = transferSecondsPerByte.size();
      transferSecondsPerByte.add(
          oracle.transferSeconds(space.senders(next), space.receivers(next), 1));
    }
    return transferSecondsPerByte.get(pair);
  }
}
