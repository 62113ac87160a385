package dev.pipewright.planner;

import dev.pipewright.cost.StageCosts;
import dev.pipewright.planner.Planning.LowerBound;
import java.util.Arrays;

/**
 * Tells whether every plan of several stages takes at least so many seconds, wherever its stages
 * are placed.
 *
 * <p>A stage does all micro-batches, and before it begins the first one has come through the stages
 * before, and after it ends the last one goes back through them: the step takes at least their
 * passes over one micro-batch, the transfers between them, and the passes of the stage over all.
 * Where gradients of weights may be put off, the last one may have gone back before the stage ends,
 * so that only the way there counts. A stage has the states that one device can hold. Of all
 * partitions that keep to the seconds the one with the least way so far leaves most to the stages
 * behind, so a dynamic program over devices and layers finds one if there is any.
 *
 * <p>O(devices² · layers²) for each micro-batch size at worst; how much so many devices can have
 * done confines it to a few layers for each number of devices.
 */
final class FillingBound {
  private static final double MOST_STEPS = 3e8; // a nanosecond or two each

  private static final double MOST_RAISED = 1e6; // the same, for each of its tries
  private static final double GROWTH = 1.1;
  private static final int MOST_TRIES = 30; // 17 times as long
  private static final int HALVINGS = 6;

  private final StageCosts costs;
  private final LeastTimes least;
  private final int globalBatch;
  private final int devices;
  private final int size;
  private final boolean putsOff;
  private final double limit;

  private FillingBound(StageCosts costs, int globalBatch, boolean putsOff, double limit) {
    this.costs = costs;
    this.putsOff = putsOff;
    this.globalBatch = globalBatch;
    this.devices = costs.workload().cluster().size();
    this.size = costs.size();
    this.limit = limit;
    this.least = new LeastTimes(costs, globalBatch);
  }

  /**
   * Whether no plan takes less than so many seconds; false where it would take long to tell.
   *
   * @param putsOff whether gradients of weights may be put off
   */
  static boolean holds(StageCosts costs, int globalBatch, boolean putsOff, double seconds) {
    return new FillingBound(costs, globalBatch, putsOff, seconds).holds();
  }

  /**
   * A bound of all plans, raised as far as this one reaches; as it is where that takes long.
   *
   * @param putsOff whether gradients of weights may be put off
   */
  static LowerBound raised(LowerBound known, StageCosts costs, int globalBatch, boolean putsOff) {
    if (Math.pow(costs.workload().cluster().size(), 2) * costs.size() > MOST_RAISED) {
      return known;
    }
    double holds = known.value();
    double fails = holds * GROWTH;
    for (int i = 0; i < MOST_TRIES && holds(costs, globalBatch, putsOff, fails); i++) {
      holds = fails;
      fails *= GROWTH;
    }
    if (holds(costs, globalBatch, putsOff, fails)) {
      return known; // nothing fits
    }
    for (int i = 0; i < HALVINGS; i++) {
      double middle = (holds + fails) / 2;
      if (holds(costs, globalBatch, putsOff, middle)) {
        holds = middle;
      } else {
        fails = middle;
      }
    }
    return holds > known.value()
        ? new LowerBound(holds, "work, filling, transfers and states of every way to cut")
        : known;
  }

  private boolean holds() {
    if (!costs.total() || Math.pow(devices, 2) * size > MOST_STEPS) {
      return false;
    }
    for (int samples = 1; samples <= globalBatch; samples++) {
      if (globalBatch % samples == 0 && isPossible(samples)) {
        return false;
      }
    }
    return true;
  }

  /** Whether some stages could do their micro-batches of so many samples in time. */
  private boolean isPossible(int samples) {
    int most = Math.min(samples, devices);
    double[][] way = new double[devices + 1][size + 1]; // through the stages so far
    for (double[] row : way) {
      Arrays.fill(row, Double.POSITIVE_INFINITY);
    }
    way[0][0] = 0;
    double[] even = costs.cheapestSecondsPerSample(samples);
    int[] lowest = new int[devices + 1]; // ends behind which the other devices can do the rest
    int[] highest = new int[devices + 1]; // and up to which these have got
    for (int used = 1; used <= devices; used++) {
      int low = lowest[used - 1];
      double rate = limit * least.rate(devices - used);
      while (low < size && globalBatch * (even[size] - even[low]) > rate) {
        low++;
      }
      lowest[used] = low;
      for (int n = 1; n <= Math.min(most, used); n++) {
        int got = extend(samples, n, way, used, low, highest[used - n]);
        highest[used] = Math.max(highest[used], got);
      }
      if (way[used][size] < Double.POSITIVE_INFINITY) {
        return true;
      }
    }
    return false;
  }

  /**
   * Puts stages on {@code n} devices behind those on {@code used − n}.
   *
   * @param low the first end to look at
   * @param high the last layer that those before have reached
   * @return the last layer reached
   */
  private int extend(int samples, int n, double[][] way, int used, int low, int high) {
    double[] before = way[used - n];
    double[] after = way[used];
    int slice = StageCosts.slice(samples, n);
    double[] forward = costs.forwardSeconds(slice);
    double[] backward = costs.backwardSeconds(slice);
    double slow = least.slowdown(n);
    int ways = putsOff ? 1 : 2;
    int microBatches = globalBatch / samples;
    int reached = 0;
    for (int first = used == n ? 0 : lowest(before, high); first <= high && first < size; first++) {
      if (before[first] == Double.POSITIVE_INFINITY) {
        continue;
      }
      double sent = first == 0 ? 0 : ways * least.transfer(first, samples, used - n, n);
      double come = before[first] + sent;
      double base = forward[first] + backward[first];
      for (int end = Math.max(low, first + 1); end <= size; end++) {
        double both = (forward[end] + backward[end] - base) * slow;
        if (come + microBatches * both >= limit
            || !least.fits(first, end)
            || least.alone(samples, first, end, n, limit) >= limit) {
          break; // and so do all that end later
        }
        double through = putsOff ? (forward[end] - forward[first]) * slow : both;
        after[end] = Math.min(after[end], come + through);
        reached = Math.max(reached, end);
      }
    }
    return reached;
  }

  private static int lowest(double[] way, int high) {
    int at = 1;
    while (at <= high && way[at] == Double.POSITIVE_INFINITY) {
      at++;
    }
    return at;
  }
}
