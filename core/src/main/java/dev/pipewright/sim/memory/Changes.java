package dev.pipewright.sim.memory;

import dev.pipewright.trace.RankMemory;
import dev.pipewright.trace.RankMemory.Category;
import dev.pipewright.trace.RankMemory.Peak;
import dev.pipewright.trace.Staircase;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;

/**
 * Changes of a rank's memory, collected in any order and then added up in time. Among those at the
 * same time buffers are freed first and filled last, and the passes between keep their order: one
 * ends before the next starts, so that what is handed over counts once.
 */
final class Changes {
  private static final Category[] CATEGORIES = Category.values();
  private static final int FREED = 0;
  private static final int PASSES = 1;
  private static final int FILLED = 2;

  private double[] seconds = new double[64];
  private double[] bytes = new double[64];
  private byte[] categories = new byte[64];
  private byte[] turns = new byte[64]; // among those at the same time
  private int size;

  /** A change by a pass; passes come in the order of the program. */
  void add(Category category, double at, double change) {
    add(category, at, change, PASSES);
  }

  /** A buffer that is filled from one time until another; nothing where they are the same. */
  void buffer(double from, double to, double filled) {
    if (to > from) {
      add(Category.BUFFERS, from, filled, FILLED);
      add(Category.BUFFERS, to, -filled, FREED);
    }
  }

  private void add(Category category, double at, double change, int turn) {
    if (change == 0) {
      return;
    }
    if (size == seconds.length) {
      seconds = Arrays.copyOf(seconds, 2 * size);
      bytes = Arrays.copyOf(bytes, 2 * size);
      categories = Arrays.copyOf(categories, 2 * size);
      turns = Arrays.copyOf(turns, 2 * size);
    }
    seconds[size] = at;
    bytes[size] = change;
    categories[size] = (byte) category.code();
    turns[size++] = (byte) turn;
  }

  /**
   * The staircases of a rank.
   *
   * @param start bytes of each category at the start
   */
  RankMemory memory(int rank, double[] start) {
    double[] now = start.clone();
    double[][] times = new double[CATEGORIES.length][];
    double[][] values = new double[CATEGORIES.length][];
    int[] steps = new int[CATEGORIES.length];
    int[] counts = counts();
    for (int c = 0; c < counts.length; c++) {
      times[c] = new double[counts[c] + 1];
      values[c] = new double[counts[c] + 1];
      values[c][steps[c]++] = now[c];
    }
    double[] totalTimes = new double[size + 1];
    double[] totals = new double[size + 1];
    totals[0] = sum(now);
    int[] order = order();
    for (int step = 1; step <= size; step++) {
      int i = order[step - 1];
      int c = categories[i];
      now[c] = after(now[c], i);
      times[c][steps[c]] = seconds[i];
      values[c][steps[c]++] = now[c];
      totalTimes[step] = seconds[i];
      totals[step] = sum(now);
    }
    Map<Category, Staircase> parts = new EnumMap<>(Category.class);
    for (Category category : CATEGORIES) {
      int c = category.code();
      parts.put(category, new Staircase(times[c], values[c]));
    }
    Staircase total = new Staircase(totalTimes, totals);
    return new RankMemory(rank, parts, total, peak(start, order));
  }

  /** The peak alone. */
  Peak peak(double[] start) {
    return peak(start, order());
  }

  private Peak peak(double[] start, int[] order) {
    double[] now = start.clone();
    double[] then = start.clone();
    double at = 0;
    double most = sum(now);
    for (int i : order) {
      int c = categories[i];
      now[c] = after(now[c], i);
      double total = sum(now);
      if (total > most * (1 + 1e-12)) {
        most = total;
        at = seconds[i];
        System.arraycopy(now, 0, then, 0, now.length);
      }
    }
    Map<Category, Double> parts = new EnumMap<>(Category.class);
    for (Category category : CATEGORIES) {
      parts.put(category, then[category.code()]);
    }
    return new Peak(at, most, parts);
  }

  /** Bytes after a change, never below 0 by rounding. */
  private double after(double before, int change) {
    return Math.max(0, before + bytes[change]);
  }

  private static double sum(double[] now) {
    double sum = 0;
    for (double each : now) { // at each change: no stream
      sum += each;
    }
    return sum;
  }

  private int[] counts() {
    int[] counts = new int[CATEGORIES.length];
    for (int i = 0; i < size; i++) {
      counts[categories[i]]++;
    }
    return counts;
  }

  /** The changes in time: sorted by merging, since most or all are in order already. */
  private int[] order() {
    int[] order = new int[size];
    for (int i = 0; i < size; i++) {
      order[i] = i;
    }
    return inOrder() ? order : sorted(order);
  }

  private boolean inOrder() {
    for (int i = 1; i < size; i++) {
      if (before(i, i - 1)) {
        return false;
      }
    }
    return true;
  }

  private int[] sorted(int[] indices) {
    int[] order = indices;
    int[] merged = new int[size];
    for (int width = 1; width < size; width *= 2) {
      for (int from = 0; from < size; from += 2 * width) {
        int middle = Math.min(size, from + width);
        merge(order, from, middle, Math.min(size, middle + width), merged);
      }
      int[] spare = order;
      order = merged;
      merged = spare;
    }
    return order;
  }

  private void merge(int[] order, int from, int middle, int to, int[] merged) {
    int left = from;
    int right = middle;
    for (int i = from; i < to; i++) {
      boolean takeRight = left == middle || (right < to && before(order[right], order[left]));
      merged[i] = takeRight ? order[right++] : order[left++];
    }
  }

  private boolean before(int a, int b) {
    return seconds[a] < seconds[b] || (seconds[a] == seconds[b] && turns[a] < turns[b]);
  }
}
