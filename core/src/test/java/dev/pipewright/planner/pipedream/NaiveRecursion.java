package dev.pipewright.planner.pipedream;

import dev.pipewright.model.Chain;
import java.util.Arrays;
import java.util.List;

/** PipeDream's recursion as it is written, every split of every pair of places. */
final class NaiveRecursion {
  private NaiveRecursion() {}

  /**
   * Seconds per mini-batch of the best plan on all devices, by units of its last outermost stage.
   */
  static double[] seconds(
      Chain chain,
      double[] layerSeconds,
      double[] bytes,
      double[] outputs,
      List<Level> levels,
      boolean charged) {
    int n = chain.size();
    double[] work = chain.cumulative(layerSeconds);
    double[] weights = chain.cumulative(bytes);
    double[] crossing = chain.crossing(outputs);
    double[][] unit = new double[n + 1][n]; // [first position after][last position]
    for (int i = 0; i <= n; i++) {
      for (int j = 0; j < n; j++) {
        boolean stage = i == 0 || (i - 1 < j && chain.precedes(i - 1, j));
        unit[i][j] = stage ? work[j] - (i == 0 ? 0 : work[i - 1]) : Double.POSITIVE_INFINITY;
      }
    }
    int below = 1;
    double[] byLast = new double[0];
    for (Level level : levels) {
      double[][] whole = new double[n + 1][n];
      for (int i = n; i >= 0; i--) {
        byLast = row(chain, i, unit, weights, crossing, level, below, charged, whole[i]);
      }
      unit = whole;
      below = level.units();
    }
    return byLast;
  }

  /**
   * Fills {@code whole} by end; returns the best to the network's end by units of the last stage.
   */
  private static double[] row(
      Chain chain,
      int i,
      double[][] unit,
      double[] weights,
      double[] crossing,
      Level level,
      int below,
      boolean charged,
      double[] whole) {
    int n = chain.size();
    double[] byLast = new double[level.units() + 1];
    Arrays.fill(byLast, Double.POSITIVE_INFINITY);
    double rate = level.bytesPerSecond();
    double[][] best = new double[level.units() + 1][n];
    for (int m = 1; m <= level.units(); m++) {
      for (int j = 0; j < n; j++) {
        double all = weights[j] - (i == 0 ? 0 : weights[i - 1]);
        best[m][j] = (unit[i][j] + 4 * (m - 1) * all / (rate * m * below)) / m;
        for (int k = 0; k < j; k++) {
          for (int r = 1; r < m && chain.precedes(k, j); r++) {
            double bytes = weights[j] - weights[k];
            double seconds =
                Math.max(best[m - r][k], (unit[k + 1][j] + 4 * (r - 1) * bytes / (rate * r)) / r);
            if (charged) {
              seconds = Math.max(seconds, 2 * crossing[k] / (rate * r));
              if (j < n - 1) {
                seconds = Math.max(seconds, 2 * crossing[j] / (rate * r));
              }
            }
            best[m][j] = Math.min(best[m][j], seconds);
            if (m == level.units() && j == n - 1) {
              byLast[r] = Math.min(byLast[r], seconds);
            }
          }
        }
        if (m == level.units() && j == n - 1) {
          byLast[m] = (unit[i][j] + 4 * (m - 1) * all / (rate * m * below)) / m;
        }
      }
    }
    System.arraycopy(best[level.units()], 0, whole, 0, n);
    return byLast;
  }
}
