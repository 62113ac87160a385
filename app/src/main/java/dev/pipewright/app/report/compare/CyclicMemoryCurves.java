package dev.pipewright.app.report.compare;

import java.util.List;

/**
 * Memory per worker over one period of a training step, of workers in step and of cyclic ones. A
 * curve's values are the most bytes in each of as many equal intervals.
 *
 * @param source of the recorded curve
 * @param samples of the recorded curve
 * @param periodSeconds of the training step
 * @param baseline bytes that each worker holds all the time, which the curves leave out
 * @param smallest whether the baseline is the smallest sample, because none is given
 * @param most of a worker in step
 * @param inStep the curve of workers in step, whatever their number
 */
public record CyclicMemoryCurves(
    String source,
    int samples,
    double periodSeconds,
    double baseline,
    boolean smallest,
    double most,
    double[] inStep,
    List<Workers> cyclic) {
  /** Numbers of workers that a picture tells apart. */
  public static final int MOST_SHOWN = 6;

  /** Intervals that are enough for a picture. */
  public static final int INTERVALS = 1_200;

  public CyclicMemoryCurves {
    cyclic = List.copyOf(cyclic);
  }

  /**
   * So many cyclic workers.
   *
   * @param most of all, per worker
   * @param bytes of all, per worker
   */
  public record Workers(int count, double most, double[] bytes) {}

  double reduction(Workers workers) {
    return 1 - workers.most() / most;
  }
}
