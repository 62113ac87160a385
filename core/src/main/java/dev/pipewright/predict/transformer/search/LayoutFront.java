package dev.pipewright.predict.transformer.search;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Layouts that no other excels: every other takes longer or needs more memory. Of those that take
 * and need the same the one with the least number is kept, so that the order of arrival does not
 * matter.
 */
final class LayoutFront {
  private static final int BUCKETS = 1024;

  private double[] seconds = new double[BUCKETS]; // rising
  private double[] bytes = new double[BUCKETS]; // falling
  private long[] numbers = new long[BUCKETS];
  private int size;
  private final double scale; // buckets per byte
  private final double[] least = new double[BUCKETS + 1]; // seconds in buckets before each

  /** For layouts that need at most {@code most} bytes, or not much more. */
  LayoutFront(double most) {
    this.scale = (BUCKETS - 1) / most;
    Arrays.fill(least, Double.POSITIVE_INFINITY);
  }

  private int bucket(double needed) {
    return Math.min(BUCKETS - 1, (int) (needed * scale));
  }

  /**
   * False where a layout is excelled for sure, by one that needs so much less memory that it is in
   * an earlier bucket.
   */
  boolean mayTake(double taken, double needed) {
    return taken < least[bucket(needed)];
  }

  void add(double taken, double needed, long number) {
    int from = 0; // the first that takes as long or longer
    int end = size;
    while (from < end) {
      int middle = (from + end) >>> 1;
      if (seconds[middle] < taken) {
        from = middle + 1;
      } else {
        end = middle;
      }
    }
    if (from > 0 && bytes[from - 1] <= needed) {
      return;
    }
    if (from < size && seconds[from] == taken) {
      boolean better = needed < bytes[from] || (needed == bytes[from] && number < numbers[from]);
      if (!better) {
        return;
      }
    }
    int to = from; // those from here on need less
    while (to < size && bytes[to] >= needed) {
      to++;
    }
    put(from, to, taken, needed, number);
    for (int bucket = bucket(needed) + 1; bucket <= BUCKETS && least[bucket] > taken; bucket++) {
      least[bucket] = taken;
    }
  }

  /** Puts a layout in the place of those {@code from} to before {@code to}. */
  private void put(int from, int to, double taken, double needed, long number) {
    int moved = from + 1 - to;
    if (size + moved > seconds.length) {
      seconds = Arrays.copyOf(seconds, 2 * size);
      bytes = Arrays.copyOf(bytes, 2 * size);
      numbers = Arrays.copyOf(numbers, 2 * size);
    }
    System.arraycopy(seconds, to, seconds, from + 1, size - to);
    System.arraycopy(bytes, to, bytes, from + 1, size - to);
    System.arraycopy(numbers, to, numbers, from + 1, size - to);
    seconds[from] = taken;
    bytes[from] = needed;
    numbers[from] = number;
    size += moved;
  }

  void add(LayoutFront that) {
    for (int i = 0; i < that.size; i++) {
      add(that.seconds[i], that.bytes[i], that.numbers[i]);
    }
  }

  /** The fastest first. */
  List<RankedLayout> ranked(SearchSpace space) {
    List<RankedLayout> ranked = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      ranked.add(new RankedLayout(space.layout(numbers[i]), seconds[i], bytes[i]));
    }
    return ranked;
  }
}
