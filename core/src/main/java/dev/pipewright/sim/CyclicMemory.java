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
 * <p>The curve is a staircase: a sample holds until the next. O(N · samples · log samples).
 */
public final class CyclicMemory {
  private final double[] times; // ascending from 0; the last is the period
  private final double[] bytes; // from times[i] to times[i + 1]

  /**
   * A recorded curve.
   *
   * @param times of the samples, ascending; the last ends the period
   * @param bytes at each of them; the last is that of the next period's start and not used
   */
  public CyclicMemory(double[] times, double[] bytes) {
    Check.that(
        times.length == bytes.length && times.length >= 2,
        "a curve has at least two samples, each with a time and bytes: times=%d, bytes=%d",
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
    double start = times[0];
    this.times = Arrays.stream(times).map(t -> t - start).toArray();
    this.bytes = bytes.clone();
  }

  public double period() {
    return times[times.length - 1];
  }

  /** Bytes of one worker at a time of its period. */
  public double at(double time) {
    double wrapped = time - Math.floor(time / period()) * period();
    int index = Arrays.binarySearch(times, wrapped);
    int sample = index >= 0 ? index : -index - 2;
    return bytes[Math.min(sample, bytes.length - 2)];
  }

  /** The most that one worker holds. */
  public double most() {
    double most = 0;
    for (int i = 0; i < bytes.length - 1; i++) {
      most = Math.max(most, bytes[i]);
    }
    return most;
  }

  /** The most that so many workers in step hold together: all are at their maximum at once. */
  public double inStep(int workers) {
    return workers * most();
  }

  /** What so many workers hold together at a time, each a share of the period after the last. */
  public double together(int workers, double time) {
    double sum = 0;
    for (int worker = 0; worker < workers; worker++) {
      sum += at(time + worker * period() / workers);
    }
    return sum;
  }

  /**
   * The most that cyclic workers hold together. The sum changes only where some worker's curve
   * does, so those times are all that is looked at, from both sides.
   */
  public double cyclic(int workers) {
    Check.that(workers >= 1, "there is at least one worker: workers=%d", workers);
    double most = 0;
    for (int worker = 0; worker < workers; worker++) {
      double behind = worker * period() / workers;
      for (int i = 0; i < times.length - 1; i++) {
        double middle = (times[i] + times[i + 1]) / 2; // between steps no rounding decides
        most = Math.max(most, together(workers, times[i] - behind));
        most = Math.max(most, together(workers, middle - behind));
      }
    }
    return most;
  }
}
