package dev.pipewright.planner.recompute;

import java.util.Arrays;

/**
 * The ways to treat a stage's layers, merged from those for the layers before each last piece that
 * there can be: in order of extra time, without the beaten. Of each source no more is asked than
 * may come next.
 */
final class WayMerge {
  private static final double MARGIN = 1 + 1.0 / 64; // where there are too many ways
  private static final int MOST = TradeOffs.MOST_WAYS;

  private final double room;
  private final Ways[] sources;
  private final int[] pieces; // where the last piece begins; the complement: it is kept
  private final double[] bytes; // that the last piece holds
  private final double[] working; // and needs while it is computed again
  private final double[] seconds;
  private final int[] next; // of the source; -1 before it has been asked
  private final double[] extra; // of the way with that; no more than it before
  private final double[] held;
  private final double[] peak;
  private final int[] heap; // sources
  private int count;
  private int left; // sources in the heap
  private boolean exact;

  // what is best so far: ascending in held, descending in peak
  private double[] stairHeld = new double[4];
  private double[] stairPeak = new double[4];
  private int stairs;

  /**
   * Ways that need more than {@code room} are left out.
   *
   * @param all whether all pieces will be offered
   * @param most pieces
   */
  WayMerge(double room, boolean all, int most) {
    this.room = room;
    exact = all;
    sources = new Ways[most];
    pieces = new int[most];
    bytes = new double[most];
    working = new double[most];
    seconds = new double[most];
    next = new int[most];
    extra = new double[most];
    held = new double[most];
    peak = new double[most];
    heap = new int[most];
  }

  boolean exact() {
    return exact;
  }

  /** Adds ways whose last piece keeps so many bytes. */
  void keep(Ways source, int from, double kept) {
    add(source, ~from, kept, Double.NEGATIVE_INFINITY, 0);
  }

  /**
   * Adds ways whose last piece is computed again.
   *
   * @param input that the piece holds
   * @param needed its input and all that it keeps then
   */
  void again(Ways source, int from, double input, double needed, double runSeconds) {
    add(source, from, input, needed, runSeconds);
  }

  private void add(Ways source, int piece, double holds, double needs, double takes) {
    sources[count] = source;
    pieces[count] = piece;
    bytes[count] = holds;
    working[count] = needs;
    seconds[count] = takes;
    next[count] = -1;
    extra[count] = takes;
    held[count] = -1;
    heap[left++] = count++;
    for (int at = left - 1; at > 0 && sooner(heap[at], heap[(at - 1) / 2]); at = (at - 1) / 2) {
      swap(at, (at - 1) / 2);
    }
  }

  /** Finds the next way; false where there is none. */
  boolean next(Ways found) {
    while (left > 0 && found.size() < 2 * MOST) {
      int source = heap[0];
      int way = next[source];
      double seconds = extra[source];
      double holds = held[source];
      double needs = peak[source];
      advance(source);
      if (way >= 0 && needs <= room && unbeaten(holds, needs, found.size() >= MOST)) {
        found.add(seconds, holds, needs, pieces[source], way);
        return true;
      }
    }
    exact &= left == 0;
    return false;
  }

  /** To the next way of a source; of those that it has found not to one that is beaten. */
  private void advance(int source) {
    Ways ways = sources[source];
    int way = ++next[source];
    while (way < ways.size() && !toWay(source, way)) {
      way = ++next[source];
    }
    if (way == ways.size()) {
      if (ways.has(way)) {
        toWay(source, way);
      } else {
        heap[0] = heap[--left];
      }
    }
    exact &= ways.exact();
    sink();
  }

  /** Whether the way may be worth it. */
  private boolean toWay(int source, int way) {
    Ways ways = sources[source];
    extra[source] = ways.extra(way) + seconds[source];
    held[source] = ways.held(way) + bytes[source];
    double during = Math.max(ways.peak(way), ways.held(way) + working[source]);
    peak[source] = Math.max(during, held[source]);
    return peak[source] <= room && !beaten(held[source], peak[source]);
  }

  private void sink() {
    int at = 0;
    for (int child = 1; child < left; child = 2 * at + 1) {
      if (child + 1 < left && sooner(heap[child + 1], heap[child])) {
        child++;
      }
      if (!sooner(heap[child], heap[at])) {
        return;
      }
      swap(at, child);
      at = child;
    }
  }

  private void swap(int one, int other) {
    int moved = heap[one];
    heap[one] = heap[other];
    heap[other] = moved;
  }

  /** Of equals the source that was added first. */
  private boolean sooner(int one, int other) {
    if (extra[one] != extra[other]) {
      return extra[one] < extra[other];
    }
    if (held[one] != held[other]) {
      return held[one] < held[other];
    }
    return peak[one] < peak[other] || (peak[one] == peak[other] && one < other);
  }

  /**
   * Whether no earlier one holds and needs as little; it then counts from now on.
   *
   * @param many whether it has to hold or need a good deal less
   */
  private boolean unbeaten(double holds, double needs, boolean many) {
    if (beaten(holds, needs)) {
      return false;
    }
    if (many && beaten(holds * MARGIN, needs * MARGIN)) {
      exact = false;
      return false;
    }
    int behind = behind(holds);
    int start = behind > 0 && stairHeld[behind - 1] == holds ? behind - 1 : behind;
    int end = start;
    while (end < stairs && stairPeak[end] >= needs) {
      end++;
    }
    if (stairs + 1 - (end - start) > stairHeld.length) {
      stairHeld = Arrays.copyOf(stairHeld, 2 * stairs);
      stairPeak = Arrays.copyOf(stairPeak, 2 * stairs);
    }
    System.arraycopy(stairHeld, end, stairHeld, start + 1, stairs - end);
    System.arraycopy(stairPeak, end, stairPeak, start + 1, stairs - end);
    stairHeld[start] = holds;
    stairPeak[start] = needs;
    stairs += 1 - (end - start);
    return true;
  }

  private boolean beaten(double holds, double needs) {
    int behind = behind(holds);
    return behind > 0 && stairPeak[behind - 1] <= needs;
  }

  /** The first step that holds more. */
  private int behind(double holds) {
    int low = 0;
    int high = stairs;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (stairHeld[middle] <= holds) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
}
