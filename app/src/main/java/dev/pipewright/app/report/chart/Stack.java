package dev.pipewright.app.report.chart;

import java.util.List;

/**
 * One place of a panel: a stacked bar, or why there is none.
 *
 * @param parts amounts from below; empty for no bar
 * @param limit what the whole should not exceed; infinite for none
 * @param figure the words above the bar
 * @param mark whether the strategy fits into memory here, and is the best that does
 * @param tip all of it in words
 */
public record Stack(
    int devices, List<Double> parts, double limit, String figure, Mark mark, String tip) {
  public enum Mark {
    BEST,
    FITS,
    TOO_LARGE,
    IMPOSSIBLE
  }

  public Stack {
    parts = List.copyOf(parts);
  }

  public static Stack impossible(int devices, String tip) {
    return new Stack(devices, List.of(), Double.POSITIVE_INFINITY, "", Mark.IMPOSSIBLE, tip);
  }

  double total() {
    double total = 0;
    for (double part : parts) {
      total += part;
    }
    return total;
  }
}
