package dev.pipewright.planner;

import dev.pipewright.cost.StageCosts;
import dev.pipewright.planner.Planning.LowerBound;
import dev.pipewright.units.Bytes;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * A step time that no plan goes below, from what its stages pay wherever they are placed.
 *
 * <p>A plan has one stage, which does all the work and sums all gradients, of which no more than a
 * backward pass hides; or it has several. Then each of them does its micro-batches, the first of
 * which has come through the layers before, and sums its gradients; every cut carries all samples;
 * and the devices that the first stage leaves share the rest of the work. The greatest of these is
 * what a plan takes at least; the least of that over all cuts, numbers of devices and micro-batch
 * sizes is the bound. Memory leaves out stages whose states no device can hold.
 *
 * <p>O(layers · devices) for each micro-batch size, and O(layers² · devices²) where few enough.
 */
final class SplitBounds {
  /** A bound is worth so many steps of its dynamic program, some ten nanoseconds each. */
  private static final double MOST_STEPS = 3e6;

  private final StageCosts costs;
  private final int globalBatch;
  private final boolean pathsAddUp;
  private final int devices;
  private final LeastTimes least;

  /** A micro-batch size with what plans that begin with some first stage take at least. */
  private record Begun(int microBatching, double seconds) {}

  private SplitBounds(StageCosts costs, int globalBatch, boolean pathsAddUp) {
    this.costs = costs;
    this.globalBatch = globalBatch;
    this.pathsAddUp = pathsAddUp;
    this.devices = costs.workload().cluster().size();
    this.least = new LeastTimes(costs, globalBatch);
  }

  /**
   * The bound; 0 where it would take too long.
   *
   * @param pathsAddUp whether the cost model makes a stage wait for the first micro-batch's way
   *     through the stages before, and adds every stage's own all-reduce to its passes
   */
  static LowerBound of(StageCosts costs, int globalBatch, boolean pathsAddUp) {
    return new SplitBounds(costs, globalBatch, pathsAddUp).best();
  }

  private LowerBound best() {
    List<Integer> waves = new ArrayList<>();
    for (int samples = 1; samples <= globalBatch; samples++) {
      if (globalBatch % samples == 0) {
        waves.add(samples);
      }
    }
    if ((double) costs.size() * devices * waves.size() > MOST_STEPS) {
      return new LowerBound(0, "too many layers, devices and micro-batch sizes to tell");
    }
    double one = Double.POSITIVE_INFINITY;
    for (int microBatching : waves) {
      one = Math.min(one, oneStage(microBatching));
    }
    double several = several(waves, one);
    return several < one
        ? new LowerBound(several, severalWords(one))
        : new LowerBound(one, "one stage's work and the all-reduce that it cannot hide");
  }

  private String severalWords(double one) {
    return "work, filling, all-reduce and transfers of every way to cut; "
        + (least.fits(0, costs.size())
            ? "one stage takes " + Units.seconds(one)
            : "memory: one stage would hold " + Bytes.of(costs.staticBytes(0, costs.size())));
  }

  private double oneStage(int microBatching) {
    double best = Double.POSITIVE_INFINITY;
    if (least.fits(0, costs.size())) {
      for (int n = 1; n <= Math.min(microBatching, devices); n++) {
        best = Math.min(best, least.alone(microBatching, 0, costs.size(), n, best));
      }
    }
    return best;
  }

  /** No more than {@code limit}. */
  private double several(List<Integer> waves, double limit) {
    List<Begun> begun = new ArrayList<>();
    for (int microBatching : waves) {
      begun.add(new Begun(microBatching, firstStage(microBatching, limit)));
    }
    begun.sort(Comparator.comparingDouble(Begun::seconds));
    double stepsEach = Math.pow(costs.size(), 2) * Math.pow(devices, 2) / 4;
    double steps = 0;
    double best = limit;
    for (Begun one : begun) {
      steps += stepsEach;
      double all =
          steps <= MOST_STEPS && one.seconds < best ? allStages(one.microBatching, best) : 0;
      best = Math.min(best, Math.max(one.seconds, all));
    }
    return best;
  }

  /** The least over all first stages, no more than {@code limit}. */
  private double firstStage(int microBatching, double limit) {
    double[] even = costs.cheapestSecondsPerSample(microBatching);
    double best = limit;
    for (int n = 1; n <= Math.min(microBatching, devices - 1); n++) {
      best = firstStage(microBatching, n, even, best);
    }
    return best;
  }

  /**
   * The same on {@code n} devices.
   *
   * @param even seconds that a sample takes at least up to each end
   */
  private double firstStage(int microBatching, int n, double[] even, double limit) {
    int slice = StageCosts.slice(microBatching, n);
    double[] forward = costs.forwardSeconds(slice);
    double[] backward = costs.backwardSeconds(slice);
    int size = costs.size();
    int left = devices - n;
    int microBatches = globalBatch / microBatching;
    double best = limit;
    for (int end = 1; end < size; end++) {
      double both = (forward[end] + backward[end]) * least.slowdown(n);
      if (microBatches * both >= best && costs.total()) {
        break; // and so do all that end later
      }
      if (!least.fits(0, end) || !least.fits(end, size, left)) {
        continue;
      }
      double rest = even[size] - even[end];
      double transfer = least.transfer(end, microBatching, n, left);
      double lead = pathsAddUp ? both + 2 * transfer : 0;
      double behind = pathsAddUp ? once(rest, microBatching, left) - transfer : 0;
      double bound =
          Math.max(
              lead + globalBatch * rest / least.rate(left),
              lead + behind + microBatches * transfer);
      if (bound < best) {
        best = Math.min(best, Math.max(bound, least.alone(microBatching, 0, end, n, best)));
      }
    }
    return best;
  }

  /** A micro-batch's way through layers of so many seconds per sample on so many devices. */
  private double once(double secondsPerSample, int microBatching, int share) {
    return Math.max(1, (double) microBatching / share) * secondsPerSample * least.fastest();
  }

  /** The least over all partitions of what their worst stage or cut takes, up to a limit. */
  private double allStages(int microBatching, double limit) {
    int size = costs.size();
    double[] even = costs.cheapestSecondsPerSample(microBatching);
    double[][] worst = new double[devices + 1][size + 1]; // by devices used and end
    Arrays.fill(worst[0], 1, size + 1, Double.POSITIVE_INFINITY);
    double best = limit;
    for (int used = 1; used <= devices; used++) {
      Arrays.fill(worst[used], 1, size + 1, limit);
      boolean[] hopeful = hopeful(even, devices - used, limit);
      for (int n = 1; n <= Math.min(microBatching, used); n++) {
        extend(microBatching, n, even, hopeful, worst[used - n], worst[used]);
      }
      best = Math.min(best, worst[used][size]);
    }
    return best;
  }

  /** Ends behind which so many devices can do the rest of the work within a limit. */
  private boolean[] hopeful(double[] even, int free, double limit) {
    boolean[] hopeful = new boolean[even.length];
    for (int end = 1; end < even.length; end++) {
      double rest = even[costs.size()] - even[end];
      hopeful[end] = rest <= 0 || globalBatch * rest < limit * least.rate(free);
    }
    return hopeful;
  }

  /** Puts a stage on {@code n} devices behind partitions {@code before}. */
  private void extend(
      int microBatching, int n, double[] even, boolean[] hopeful, double[] before, double[] worst) {
    int slice = StageCosts.slice(microBatching, n);
    double[] forward = costs.forwardSeconds(slice);
    double[] backward = costs.backwardSeconds(slice);
    double slow = least.slowdown(n);
    int left = devices - n;
    int microBatches = globalBatch / microBatching;
    for (int end = 1; end < worst.length; end++) {
      for (int first = hopeful[end] ? end - 1 : -1; first >= 0; first--) {
        double both = (forward[end] + backward[end] - forward[first] - backward[first]) * slow;
        if (microBatches * both >= worst[end] && costs.total()) {
          break; // and so do all that begin earlier
        }
        if (before[first] >= worst[end]
            || !costs.isStage(first, end)
            || !least.fits(first, end)
            || (first > 0 && left == 0)) {
          continue;
        }
        double bound = Math.max(before[first], microBatches * both);
        if (first > 0) {
          double transfer = least.transfer(first, microBatching, left, n);
          bound =
              pathsAddUp
                  ? Math.max(
                      bound,
                      once(even[first], microBatching, left)
                          + 2 * transfer
                          + Math.max(microBatches * both, both + (microBatches - 1) * transfer))
                  : Math.max(bound, microBatches * transfer);
        }
        if (bound < worst[end] && (pathsAddUp || first == 0)) {
          bound = Math.max(bound, least.alone(microBatching, first, end, n, worst[end]));
        }
        worst[end] = Math.min(worst[end], bound);
      }
    }
  }
}
