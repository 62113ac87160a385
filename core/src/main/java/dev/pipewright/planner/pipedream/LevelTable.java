package dev.pipewright.planner.pipedream;

import java.util.Arrays;

/**
 * The least seconds of one whole unit of a level for the layers between any two places; infinite
 * where no stage lies between them or the search was stopped before.
 *
 * <p>Half of a square, by column: O(places²) numbers, twice.
 */
final class LevelTable implements StageSeconds {
  private final double[] seconds;
  private final double[] least; // the smallest of a column down to a row
  private final int[] column;
  private final double[] nothing;

  LevelTable(int places) {
    nothing = new double[places];
    column = new int[places];
    for (int to = 1; to < places; to++) {
      column[to] = at(0, to);
    }
    seconds = new double[at(0, places)];
    Arrays.fill(seconds, Double.POSITIVE_INFINITY);
    least = new double[seconds.length];
  }

  private static int at(int from, int to) {
    return to * (to - 1) / 2 + from;
  }

  void set(int from, int to, double value) {
    seconds[at(from, to)] = value;
  }

  /** Called once, after the last {@link #set}. */
  void finish(int places) {
    for (int to = 1; to < places; to++) {
      double smallest = Double.POSITIVE_INFINITY;
      for (int from = 0; from < to; from++) {
        smallest = Math.min(smallest, seconds[at(from, to)]);
        least[at(from, to)] = smallest;
      }
    }
  }

  @Override
  public double[] upTo() {
    return nothing;
  }

  @Override
  public int[] column() {
    return column;
  }

  @Override
  public double[] from() {
    return seconds;
  }

  @Override
  public double[] fromAtLeast() {
    return least;
  }
}
