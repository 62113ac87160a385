package dev.pipewright.planner;

import dev.pipewright.cost.Collectives;
import dev.pipewright.cost.StageCosts;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * What the layers that a partial plan has not placed yet will cost at least, for every number of
 * layers and of devices left: a small dynamic program that ignores transfers and placement, and
 * knows of memory what a single stage does.
 *
 * <p>Two numbers: the slowest stage of the best partition, and the delay that the layers put before
 * and after everything else, gradients included. Partitions with a stage that alone makes a step
 * longer than the limit do not count: so fewer, larger stages cannot hide that they are slower.
 * Both are lower bounds, so pruning by them never loses an optimum ({@code DapplePlannerTest}
 * compares with exhaustive search). On instances too large for the tables, work divided by devices
 * stands in for both.
 */
final class PrefixBound {
  /** Tables cost up to this many steps; beyond, the search is cheaper without. */
  private static final double MOST_STEPS = 2e7;

  /** Prices of stages on a given number of devices, at their best. */
  interface Prices {
    /** Forward and backward seconds of a micro-batch by position, cumulative. */
    double[] seconds(int devices);

    /** Where the longest stage begins that fits and ends here. */
    default int earliest(int end) {
      return 0;
    }

    /**
     * Seconds of a micro-batch in which a stage on so many devices recomputes, at least; infinite
     * where it does not fit.
     */
    default double again(int first, int end, int devices) {
      return 0;
    }

    /** Whether so many devices can share a micro-batch. */
    boolean allows(int devices);

    /** Whether gradients are summed after the last backward pass. */
    boolean sums();

    /**
     * How often a step repeats a stage's passes at least: every stage takes this many times its
     * seconds, and stages before it delay the first of them.
     */
    int repeats();
  }

  private final int unit;
  private final double[] even; // seconds of one micro-batch on one device, cumulative
  private final double[] evenBefore; // the largest of even up to each position
  private final double[][] slowest; // [units left][first], ascending in first; empty without tables
  private final double[][] delay;

  private PrefixBound(int unit, double[] even, double[][] slowest, double[][] delay) {
    this.unit = unit;
    this.even = ascending(even);
    this.evenBefore = even.clone();
    for (int i = 1; i < even.length; i++) {
      evenBefore[i] = Math.max(evenBefore[i - 1], even[i]);
    }
    this.slowest = slowest;
    this.delay = delay;
  }

  /**
   * The largest ascending function below {@code values}: where branches lie side by side, work may
   * fall.
   */
  private static double[] ascending(double[] values) {
    double[] result = values.clone();
    for (int i = result.length - 2; i >= 0; i--) {
      result[i] = Math.min(result[i], result[i + 1]);
    }
    return result;
  }

  /**
   * @param even seconds of one micro-batch by position, cumulative, on one device if its time fell
   *     in proportion with further devices: at most what any stage really costs
   * @param unit devices that a stage takes at least, and in multiples of which
   */
  static PrefixBound of(StageCosts costs, double[] even, int unit, Prices prices, double limit) {
    int[] counts = PlacementSpace.allCounts(costs.workload().cluster(), unit);
    return of(costs, even, unit, counts, prices, limit);
  }

  /**
   * @param unit the greatest common divisor of {@code counts}
   * @param counts the numbers of devices that a stage may have, ascending
   */
  static PrefixBound of(
      StageCosts costs, double[] even, int unit, int[] counts, Prices prices, double limit) {
    int units = costs.workload().cluster().size() / unit;
    double steps = Math.pow(costs.size(), 2) * units * counts.length / 8;
    if (steps > MOST_STEPS) {
      return evenly(even, unit);
    }
    double[][] slowest = new double[units + 1][costs.size() + 1];
    double[][] delay = new double[units + 1][costs.size() + 1];
    List<Stages> stages = new ArrayList<>();
    for (int left = 0; left <= units; left++) {
      Arrays.fill(slowest[left], 1, costs.size() + 1, Double.POSITIVE_INFINITY);
      Arrays.fill(delay[left], 1, costs.size() + 1, Double.POSITIVE_INFINITY);
      for (int i = 0; i < counts.length; i++) {
        int take = counts[i] / unit;
        if (take > left || !prices.allows(counts[i])) {
          break;
        }
        if (i == stages.size()) {
          stages.add(new Stages(costs, prices, counts[i], limit));
        }
        int rest = left - take;
        stages.get(i).extend(slowest[left], slowest[rest], delay[left], delay[rest]);
      }
    }
    for (int left = 0; left <= units; left++) {
      slowest[left] = ascending(slowest[left]);
      delay[left] = ascending(delay[left]);
    }
    return new PrefixBound(unit, even, slowest, delay);
  }

  /** Without tables: work divided by devices. */
  static PrefixBound evenly(double[] even, int unit) {
    return new PrefixBound(unit, even, new double[0][], new double[0][]);
  }

  /** Stages on one number of devices. */
  private static final class Stages {
    private final StageCosts costs;
    private final Prices prices;
    private final int devices;
    private final double[] seconds;
    private final double[] gradients;
    private final boolean sums;
    private final Collectives group;
    private final double[] summing; // seconds by end and first, or 0 until they are asked for
    private final double[] again; // likewise, or NaN
    private final int repeats;
    private final double limit;

    Stages(StageCosts costs, Prices prices, int devices, double limit) {
      this.costs = costs;
      this.prices = prices;
      this.devices = devices;
      this.seconds = prices.seconds(devices);
      this.gradients = costs.gradientBytes();
      this.sums = prices.sums();
      this.group = Collectives.atBest(costs.workload().cluster(), devices);
      this.summing = new double[sums ? seconds.length * seconds.length : 0];
      this.again = new double[seconds.length * seconds.length];
      Arrays.fill(again, Double.NaN);
      this.repeats = prices.repeats();
      this.limit = limit;
    }

    /** Seconds of the sums of a stage's gradients. */
    private double summing(int first, int end) {
      int at = end * seconds.length + first;
      if (summing[at] == 0) {
        summing[at] = group.allReduce(gradients[end] - gradients[first]);
      }
      return summing[at];
    }

    private double again(int first, int end) {
      int at = end * seconds.length + first;
      if (Double.isNaN(again[at])) {
        again[at] = prices.again(first, end, devices);
      }
      return again[at];
    }

    /** Improves the best prefixes by those that end in one of these stages. */
    void extend(double[] slowest, double[] slowestBefore, double[] delay, double[] delayBefore) {
      boolean total = costs.total();
      double most = limit / repeats;
      for (int end = 1; end < seconds.length; end++) {
        int earliest = prices.earliest(end);
        for (int first = end - 1; first >= earliest; first--) {
          double stage = seconds[end] - seconds[first];
          if (total && (stage > most || (stage >= slowest[end] && stage >= delay[end]))) {
            break;
          }
          double pace = Math.max(stage, slowestBefore[first]);
          double before = delayBefore[first];
          if ((pace >= slowest[end] && stage + before >= delay[end])
              || stage * repeats + before > limit
              || !costs.isStage(first, end)) {
            continue;
          }
          stage += again(first, end);
          pace = Math.max(stage, pace);
          if (sums) {
            before = Math.max(before, summing(first, end));
          }
          if (stage <= most && stage * repeats + before <= limit) {
            slowest[end] = Math.min(slowest[end], pace);
            delay[end] = Math.min(delay[end], stage + before);
          }
        }
      }
    }
  }

  /** Seconds of a micro-batch on the slowest of the stages before {@code first}, at least. */
  double slowest(int first, int free) {
    return slowest.length == 0 ? even[first] / free : slowest[free / unit][first];
  }

  /** Seconds that the stages before {@code first} add to those behind, at least. */
  double delay(int first, int free) {
    return delay.length == 0 ? even[first] / free : delay[free / unit][first];
  }

  /**
   * The last start of a stage before {@code end} that leaves no slower stage than {@code most}
   * behind.
   */
  int latest(int end, int free, double most) {
    int low = 0; // a stage may always start at the front
    int high = end;
    while (high - low > 1) {
      int middle = (low + high) >>> 1;
      if (free > 0 && slowest(middle, free) <= most) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** Whether every stage that starts at or before {@code first} takes longer than {@code most}. */
  boolean tooLong(int first, int end, int devices, double most) {
    return (even[end] - evenBefore[first]) / devices > most;
  }
}
