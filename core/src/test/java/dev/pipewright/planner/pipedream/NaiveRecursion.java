package dev.pipewright.planner.pipedream;

import dev.pipewright.model.Chain;
import dev.pipewright.model.LiteralAntichains;
import java.util.Arrays;
import java.util.List;

/**
 * PipeDream's recursion as it is written, every split of every pair of places; also for each number
 * of innermost stages.
 */
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
      List<BandwidthLevel> levels,
      boolean charged) {
    int n = chain.size();
    double[] work = chain.cumulative(layerSeconds);
    double[] weights = chain.cumulative(bytes);
    double[] crossing = LiteralAntichains.crossing(chain, outputs);
    double[][] unit = new double[n + 1][n]; // [first position after][last position]
    for (int i = 0; i <= n; i++) {
      for (int j = 0; j < n; j++) {
        boolean stage = i == 0 || (i - 1 < j && chain.precedes(i - 1, j));
        unit[i][j] = stage ? work[j] - (i == 0 ? 0 : work[i - 1]) : Double.POSITIVE_INFINITY;
      }
    }
    int below = 1;
    double[] byLast = new double[0];
    for (BandwidthLevel level : levels) {
      double[][] whole = new double[n + 1][n];
      for (int i = n; i >= 0; i--) {
        byLast = row(chain, i, unit, weights, crossing, level, below, charged, whole[i]);
      }
      unit = whole;
      below = level.units();
    }
    return byLast;
  }

  /** Seconds per mini-batch of the best plan on all devices by its number of innermost stages. */
  static double[] byStages(Networks network, List<BandwidthLevel> levels, boolean charged) {
    Chain chain = network.chain();
    int n = chain.size();
    double[] work = chain.cumulative(network.seconds());
    double[] weights = chain.cumulative(network.parameters());
    double[] crossing = LiteralAntichains.crossing(chain, network.outputs());
    double[][][] unit = new double[2][n + 1][n]; // [stages][first position][last position]
    for (int i = 0; i <= n; i++) {
      for (int j = 0; j < n; j++) {
        boolean stage = i == 0 || (i - 1 < j && chain.precedes(i - 1, j));
        unit[0][i][j] = Double.POSITIVE_INFINITY;
        unit[1][i][j] = stage ? work[j] - (i == 0 ? 0 : work[i - 1]) : Double.POSITIVE_INFINITY;
      }
    }
    int below = 1;
    for (BandwidthLevel level : levels) {
      int most = Math.min(n, (unit.length - 1) * level.units());
      double[][][] whole = new double[most + 1][n + 1][n];
      for (int i = 0; i <= n; i++) {
        double[][] best = counted(network, i, unit, weights, crossing, level, below, charged, most);
        for (int stages = 0; stages <= most; stages++) {
          whole[stages][i] = best[stages];
        }
      }
      unit = whole;
      below = level.units();
    }
    double[] result = new double[unit.length];
    for (int stages = 0; stages < result.length; stages++) {
      result[stages] = unit[stages][0][n - 1];
    }
    return result;
  }

  /** The best on all units of a level from position {@code i} on, by stages, by end. */
  private static double[][] counted(
      Networks network,
      int i,
      double[][][] unit,
      double[] weights,
      double[] crossing,
      BandwidthLevel level,
      int below,
      boolean charged,
      int most) {
    int n = network.chain().size();
    double rate = level.bytesPerSecond();
    double[][][] best = new double[level.units() + 1][most + 1][n];
    for (double[][] some : best) {
      for (double[] row : some) {
        Arrays.fill(row, Double.POSITIVE_INFINITY);
      }
    }
    for (int m = 1; m <= level.units(); m++) {
      for (int stages = 1; stages <= most; stages++) {
        for (int j = 0; j < n; j++) {
          double all = weights[j] - (i == 0 ? 0 : weights[i - 1]);
          if (stages < unit.length) {
            best[m][stages][j] = (unit[stages][i][j] + 4 * (m - 1) * all / (rate * m * below)) / m;
          }
          for (int last = 1; last < Math.min(stages, unit.length); last++) {
            for (int k = 0; k < j; k++) {
              for (int r = 1; r < m && network.chain().precedes(k, j); r++) {
                double bytes = weights[j] - weights[k];
                double own = (unit[last][k + 1][j] + 4 * (r - 1) * bytes / (rate * r)) / r;
                double seconds = Math.max(best[m - r][stages - last][k], own);
                if (charged) {
                  seconds = Math.max(seconds, 2 * crossing[k] / (rate * r));
                  seconds = Math.max(seconds, j < n - 1 ? 2 * crossing[j] / (rate * r) : 0);
                }
                best[m][stages][j] = Math.min(best[m][stages][j], seconds);
              }
            }
          }
        }
      }
    }
    return best[level.units()];
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
      BandwidthLevel level,
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
