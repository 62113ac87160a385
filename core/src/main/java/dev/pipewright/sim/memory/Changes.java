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
    Peak peak = peak(0, totals[0], now);
    int step = 1;
    for (int i : order()) {
      int c = categories[i];
      now[c] = Math.max(0, now[c] + bytes[i]); // never below by rounding
      times[c][steps[c]] = seconds[i];
      values[c][steps[c]++] = now[c];
      totalTimes[step] = seconds[i];
      totals[step] = sum(now);
      if (totals[step] > peak.bytes() * (1 + 1e-12)) {
        peak = peak(seconds[i], totals[step], now);
      }
      step++;
    }
    Map<Category, Staircase> parts = new EnumMap<>(Category.class);
    for (Category category : CATEGORIES) {
      int c = category.code();
      parts.put(category, new Staircase(times[c], values[c]));
    }
    return new RankMemory(rank, parts, new Staircase(totalTimes, totals), peak);
  }

  private static double sum(double[] now) {
    double sum = 0;
    for (double each : now) { // at each change: no stream
      sum += each;
    }
    return sum;
  }

  private static Peak peak(double at, double total, double[] now) {
    Map<Category, Double> parts = new EnumMap<>(Category.class);
    for (Category category : CATEGORIES) {
      parts.put(category, now[category.code()]);
    }
    return new Peak(at, total, parts);
  }

  private int[] counts() {
    int[] counts = new int[CATEGORIES.length];
    for (int i = 0; i < size; i++) {
      counts[categories[i]]++;
    }
    return counts;
  }

  /** The changes in time: sorted by merging, since most are in order already. */
  private int[] order() {
    int[] order = new int[size];
    Arrays.setAll(order, i -> i);
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
