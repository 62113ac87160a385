package dev.pipewright.bench.paradl;

import java.util.Locale;

/** The least and the most of several ratios. */
final class Range {
  private double least = Double.POSITIVE_INFINITY;
  private double most = Double.NEGATIVE_INFINITY;

  void add(double value) {
    if (Double.isFinite(value)) {
      least = Math.min(least, value);
      most = Math.max(most, value);
    }
  }

  boolean empty() {
    return least > most;
  }

  /** How far from one, at most. */
  double deviation() {
    return Math.max(Math.abs(least - 1), Math.abs(most - 1));
  }

  @Override
  public String toString() {
    if (empty()) {
      return "–";
    }
    String low = text(least);
    String high = text(most);
    return low.equals(high) ? low : low + " … " + high;
  }

  private static String text(double value) {
    return Math.abs(value - 1) < 1e-9
        ? "1"
        : String.format(Locale.ROOT, value < 0.1 ? "%.4f" : "%.3f", value);
  }
}
