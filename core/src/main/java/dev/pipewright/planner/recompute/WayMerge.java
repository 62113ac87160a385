package dev.pipewright.planner.recompute;

import java.util.Arrays;

/**
 * Merges ways to treat a stage's layers, each list in order of extra time, and drops the beaten.
 */
final class WayMerge {
  private static final int[] IN_FLIGHT = {1, 2, 3, 4, 6, 8, 16, 1 << 20}; // that matter most

  private Column now = new Column();
  private Column next = new Column();
  private double room;
  private boolean exact;

  // what is best so far: ascending in held, descending in peak
  private double[] stairHeld = new double[64];
  private double[] stairPeak = new double[64];
  private int stairs;

  /** Ways that are being collected. */
  private static final class Column {
    double[] extra = new double[64];
    double[] held = new double[64];
    double[] peak = new double[64];
    int[] from = new int[64];
    int[] before = new int[64];
    int size;

    void add(double seconds, double bytes, double most, int piece, int way) {
      if (size == extra.length) {
        int larger = 2 * size;
        extra = Arrays.copyOf(extra, larger);
        held = Arrays.copyOf(held, larger);
        peak = Arrays.copyOf(peak, larger);
        from = Arrays.copyOf(from, larger);
        before = Arrays.copyOf(before, larger);
      }
      extra[size] = seconds;
      held[size] = bytes;
      peak[size] = most;
      from[size] = piece;
      before[size++] = way;
    }
  }

  /** Begins anew; ways that need more than {@code room} are left out. */
  void begin(double room) {
    this.room = room;
    now.size = 0;
    exact = true;
  }

  /** Adds ways whose last piece keeps so many bytes. */
  void keep(Ways source, int from, double kept) {
    merge(source, ~from, kept, Double.NaN, 0);
  }

  /**
   * Adds ways whose last piece is computed again.
   *
   * @param held the piece's input
   * @param working its input and all that it keeps then
   */
  void again(Ways source, int from, double held, double working, double seconds) {
    merge(source, from, held, working, seconds);
  }

  private void merge(Ways source, int piece, double more, double working, double seconds) {
    exact &= source.exact();
    next.size = 0;
    stairs = 0;
    int old = 0;
    int way = 0;
    while (old < now.size || way < source.size()) {
      boolean known = way == source.size();
      double held = known ? 0 : source.held(way) + more;
      if (!known && old < now.size) {
        double later = source.extra(way) + seconds - now.extra[old];
        known = later > 0 || (later == 0 && held >= now.held[old]);
      }
      if (known) {
        if (unbeaten(now.held[old], now.peak[old])) {
          next.add(now.extra[old], now.held[old], now.peak[old], now.from[old], now.before[old]);
        }
        old++;
      } else {
        double during = Double.isNaN(working) ? source.peak(way) : source.held(way) + working;
        double peak = Math.max(Math.max(source.peak(way), during), held);
        if (peak <= room && unbeaten(held, peak)) {
          next.add(source.extra(way) + seconds, held, peak, piece, way);
        }
        way++;
      }
    }
    Column swapped = now;
    now = next;
    next = swapped;
  }

  /** Whether no earlier one holds and needs as little; it then counts from now on. */
  private boolean unbeaten(double held, double peak) {
    int at = Arrays.binarySearch(stairHeld, 0, stairs, held);
    int behind = at >= 0 ? at + 1 : -at - 1; // the first step that holds more
    if (behind > 0 && stairPeak[behind - 1] <= peak) {
      return false;
    }
    int start = at >= 0 ? at : behind;
    int end = start;
    while (end < stairs && stairPeak[end] >= peak) {
      end++;
    }
    if (stairs + 1 - (end - start) > stairHeld.length) {
      stairHeld = Arrays.copyOf(stairHeld, 2 * stairs);
      stairPeak = Arrays.copyOf(stairPeak, 2 * stairs);
    }
    System.arraycopy(stairHeld, end, stairHeld, start + 1, stairs - end);
    System.arraycopy(stairPeak, end, stairPeak, start + 1, stairs - end);
    stairHeld[start] = held;
    stairPeak[start] = peak;
    stairs += 1 - (end - start);
    return true;
  }

  /**
   * What is left; where that are more than {@code most}, about so many as {@code few}.
   *
   * @param all whether all pieces were offered
   */
  Ways end(int most, int few, boolean all) {
    Column kept = now;
    exact &= all;
    if (now.size > most) {
      exact = false;
      thin(few);
      kept = next;
    }
    int size = kept.size;
    return new Ways(
        Arrays.copyOf(kept.extra, size),
        Arrays.copyOf(kept.held, size),
        Arrays.copyOf(kept.peak, size),
        Arrays.copyOf(kept.from, size),
        Arrays.copyOf(kept.before, size),
        exact);
  }

  /**
   * Keeps those that are best for some number of micro-batches in flight, and of others every so
   * many-th.
   */
  private void thin(int most) {
    boolean[] best = new boolean[now.size];
    int count = 0;
    for (int inFlight : IN_FLIGHT) {
      double least = Double.POSITIVE_INFINITY;
      for (int way = 0; way < now.size; way++) {
        double bytes = (inFlight - 1) * now.held[way] + now.peak[way];
        if (bytes < least) {
          least = bytes;
          count += best[way] ? 0 : 1;
          best[way] = true;
        }
      }
    }
    int others = now.size - count;
    int room = Math.max(0, most - count);
    next.size = 0;
    int seen = 0;
    for (int way = 0; way < now.size; way++) {
      boolean due = best[way];
      if (!due) {
        due = (long) (seen + 1) * room / others > (long) seen * room / others;
        seen++;
      }
      if (due) {
        next.add(now.extra[way], now.held[way], now.peak[way], now.from[way], now.before[way]);
      }
    }
  }
}
