package dev.pipewright.profile;

import dev.pipewright.cluster.Link;

/**
 * How well a link's constants tell the times that were measured. An error is {@code |fitted −
 * measured| / measured}; it is the same for a step and for the whole exchange.
 *
 * @param points how many timings were compared
 * @param logFit R² of the logarithms of the times: 1 where all agree, below 0 where one time for
 *     all sizes would do better
 * @param near the share of timings whose error is at most {@link #NEAR}
 */
public record FitQuality(
    int points, double meanError, double largestError, double logFit, double near) {
  /** What counts as near. */
  public static final double NEAR = 0.1;

  static FitQuality of(Link link, TimeCurve times) {
    double sum = 0;
    double largest = 0;
    int near = 0;
    double logSquares = 0;
    double meanLog = 0;
    double spread = 0;
    for (int i = 0; i < times.count(); i++) {
      double measured = times.seconds()[i];
      double fitted = link.seconds(times.bytes()[i]);
      double error = Math.abs(fitted - measured) / measured;
      sum += error;
      largest = Math.max(largest, error);
      near += error <= NEAR ? 1 : 0;
      logSquares += square(Math.log(fitted / measured));
      double fromMean = Math.log(measured) - meanLog;
      meanLog += fromMean / (i + 1);
      spread += fromMean * (Math.log(measured) - meanLog);
    }
    int points = times.count();
    return new FitQuality(
        points, sum / points, largest, 1 - logSquares / spread, (double) near / points);
  }

  private static double square(double x) {
    return x * x;
  }
}
