package dev.pipewright.profile;

/**
 * Hockney's line {@code α + βm} through measured points, with the least sum of squared errors, each
 * relative to its measured time: small messages count as much as large ones.
 *
 * <p>Points are added one by one. Means and centred sums are kept as in B. P. Welford, <i>Note on a
 * method for calculating corrected sums of squares and products</i>, Technometrics 4 (1962),
 * doi:10.1080/00401706.1962.10490022, here with weights: sums of squares themselves would lose the
 * latency behind nine decades of size.
 */
final class RelativeLine {
  /**
   * A line that rises by less than this share of its mean time, which is rounding or noise, is
   * given this rise at its largest message.
   */
  private static final double FLAT = 1e-3;

  private double weight;
  private double meanBytes;
  private double meanSeconds;
  private double bytesSquared; // centred, as are the next two
  private double product;
  private double secondsSquared;
  private double largest;

  /**
   * A line.
   *
   * @param latency α, never negative
   * @param secondsPerByte β, positive
   * @param squares the sum of squared relative errors
   * @param rises whether the points themselves do
   */
  record Fitted(double latency, double secondsPerByte, double squares, boolean rises) {
    double seconds(double bytes) {
      return latency + secondsPerByte * bytes;
    }
  }

  void add(double bytes, double seconds) {
    double added = 1 / (seconds * seconds);
    weight += added;
    double fromBytes = bytes - meanBytes;
    double fromSeconds = seconds - meanSeconds;
    meanBytes += fromBytes * added / weight;
    meanSeconds += fromSeconds * added / weight;
    bytesSquared += added * fromBytes * (bytes - meanBytes);
    product += added * fromBytes * (seconds - meanSeconds);
    secondsSquared += added * fromSeconds * (seconds - meanSeconds);
    largest = Math.max(largest, bytes);
  }

  /** The best line with {@code α >= 0} and {@code β > 0}. */
  Fitted fitted() {
    double slope = product / bytesSquared; // NaN where all sizes are one
    double flat = FLAT * meanSeconds / largest;
    if (!(slope > flat)) {
      return line(meanSeconds - flat * meanBytes, flat, false);
    }
    double latency = meanSeconds - slope * meanBytes;
    return latency >= 0 ? line(latency, slope, true) : line(0, throughOrigin(), true);
  }

  private double throughOrigin() {
    return (product + weight * meanBytes * meanSeconds)
        / (bytesSquared + weight * meanBytes * meanBytes);
  }

  private Fitted line(double latency, double slope, boolean rises) {
    double offset = meanSeconds - latency - slope * meanBytes;
    double squares =
        secondsSquared
            - 2 * slope * product
            + slope * slope * bytesSquared
            + weight * offset * offset;
    return new Fitted(latency, slope, Math.max(0, squares), rises);
  }
}
