package dev.pipewright.sim;

import dev.pipewright.units.Check;
import java.util.Arrays;

/**
 * Activation memory of cyclic data parallelism from one worker's recorded curve.
 *
 * <p>Paper: <i>Cyclic Data Parallelism for Efficient Parallelism of Deep Neural Networks</i>,
 * arXiv:2403.08837, §4 and figure 4: N workers repeat the same curve m(t) of period τ, worker i a
 * share i/N of it later, so together they hold Σ m(t + iτ/N mod τ) instead of the N · max m of
 * workers in step.
 *
 * <p>The curve is a staircase: a sample holds until the next. After a time of τ/N every worker is
 * where its neighbour was, so the sum has the period τ/N: the N parts of the curve, laid upon each
 * other and added up. O(samples · log N + N).
 */
public final class CyclicMemory {
  /** Times that differ by less than this share of the period are the same but for rounding. */
  private static final double SAME = 1e-12;

  private final double[] times; // ascending from 0; the last is the period
  private final double[] bytes; // from times[i] to times[i + 1]
  private final double same; // seconds
  private final double most;

  /**
   * A recorded curve.
   *
   * @param times of the samples, ascending; the last ends the period
   * @param bytes at each of them; the last is that of the next period's start and not used
   */
  public CyclicMemory(double[] times, double[] bytes) {
    this(fromZero(times), bytes.clone(), rounding(times));
    Check.that(
        times.length == bytes.length,
        "a curve's samples have a time and bytes each: times=%d, bytes=%d",
        times.length,
        bytes.length);
    for (int i = 0; i < times.length; i++) {
      Check.that(
          i == 0 || times[i] > times[i - 1],
          "the times of a curve must ascend: sample=%d, time=%s",
          i,
          times[i]);
      Check.amount(bytes[i], "bytes");
    }
    Check.positive(period(), "the period of a curve");
  }

  /** The arrays become the curve's own. */
  private CyclicMemory(double[] times, double[] bytes, double same) {
    this.times = times;
    this.bytes = bytes;
    this.same = same;
    this.most = highest(0, bytes.length - 1);
  }

  private static double[] fromZero(double[] times) {
    Check.that(times.length >= 2, "a curve has at least two samples: samples=%d", times.length);
    return Arrays.stream(times).map(time -> time - times[0]).toArray();
  }

  private static double rounding(double[] times) {
    double start = times[0];
    double end = times[times.length - 1];
    return SAME * (end - start) + 2 * Math.ulp(Math.max(Math.abs(start), Math.abs(end)));
  }

  public double period() {
    return times[times.length - 1];
  }

  /** The times within a period, from 0, at which the curve takes another value. */
  public double[] times() {
    return Arrays.copyOf(times, times.length - 1);
  }

  /** Bytes at a time, which may be in any period. */
  public double at(double time) {
    return bytes[sample(within(time))];
  }

  private double within(double time) {
    return Math.max(0, time - Math.floor(time / period()) * period());
  }

  /** The sample that holds at a time of the first period. */
  private int sample(double time) {
    int index = Arrays.binarySearch(times, time);
    return Math.min(index >= 0 ? index : -index - 2, bytes.length - 2);
  }

  /** The most at any time. */
  public double most() {
    return most;
  }

  /** The most from one time until just before another. */
  public double most(double from, double to) {
    if (to - from >= period()) {
      return most;
    }
    double start = within(from);
    double end = start + (to - from);
    int first = sample(start);
    if (end > period()) {
      return Math.max(highest(first, bytes.length - 1), most(0, end - period()));
    }
    int index = Arrays.binarySearch(times, end);
    int behind = index >= 0 ? index : -index - 1; // the first sample from the end on
    return highest(first, Math.max(first + 1, behind));
  }

  private double highest(int from, int to) {
    double highest = 0;
    for (int i = from; i < to; i++) {
      highest = Math.max(highest, bytes[i]);
    }
    return highest;
  }

  /** The most that so many workers in step hold together: all are at their maximum at once. */
  public double inStep(int workers) {
    return workers * most();
  }

  /** The most that cyclic workers hold together. */
  public double cyclic(int workers) {
    return together(workers).most();
  }

  /**
   * What so many workers hold together, each a share of the period after the last: a curve whose
   * period is that share.
   */
  public CyclicMemory together(int workers) {
    Check.that(workers >= 1, "there is at least one worker: workers=%d", workers);
    return workers == 1 ? this : new Shares(workers).sum();
  }

  /** The curve cut into equal shares of its period, which are added up. */
  private final class Shares {
    private final double share;
    private double[] at = new double[bytes.length - 1]; // of each change, from its share's start
    private double[] change = new double[at.length];
    private int[] ends; // of each share's changes; the last are the next period's start
    private double before; // what all hold just before a share begins

    Shares(int workers) {
      share = period() / workers;
      ends = new int[workers + 1];
      int part = 0;
      double held = bytes[bytes.length - 2];
      for (int i = 0; i < at.length; i++) {
        int own = (int) Math.min(workers, Math.floor((times[i] + same) / share));
        for (; part < own; part++) {
          ends[part] = i;
          before += held;
        }
        at[i] = Math.max(0, times[i] - own * share);
        change[i] = bytes[i] - held;
        held = bytes[i];
      }
      for (; part < workers; part++) {
        ends[part] = at.length;
        before += held;
      }
      ends[workers] = at.length;
    }

    CyclicMemory sum() {
      while (ends.length > 1) {
        mergePairs();
      }
      double[] sumTimes = new double[at.length + 1];
      double[] sumBytes = new double[at.length + 1];
      int count = 0;
      double now = before;
      for (int i = 0; i < at.length; i++) {
        now += change[i];
        if (i == at.length - 1 || at[i + 1] - at[i] > same) { // between steps no rounding decides
          sumTimes[count] = count == 0 ? 0 : at[i];
          sumBytes[count++] = Math.max(0, now);
        }
      }
      sumTimes[count] = share;
      sumBytes[count] = sumBytes[0];
      return new CyclicMemory(
          Arrays.copyOf(sumTimes, count + 1), Arrays.copyOf(sumBytes, count + 1), same);
    }

    /** Merges the changes of every share with those of the next. */
    private void mergePairs() {
      double[] mergedAt = new double[at.length];
      double[] mergedChange = new double[at.length];
      int[] mergedEnds = new int[(ends.length + 1) / 2];
      int to = 0;
      for (int pair = 0; pair < mergedEnds.length; pair++) {
        int left = to;
        int middle = ends[2 * pair];
        int right = middle;
        int end = ends[Math.min(2 * pair + 1, ends.length - 1)];
        for (; to < end; to++) {
          boolean takeLeft = left < middle && (right == end || at[left] <= at[right]);
          int from = takeLeft ? left++ : right++;
          mergedAt[to] = at[from];
          mergedChange[to] = change[from];
        }
        mergedEnds[pair] = end;
      }
      at = mergedAt;
      change = mergedChange;
      ends = mergedEnds;
    }
  }
}
