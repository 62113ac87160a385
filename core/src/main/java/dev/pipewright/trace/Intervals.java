package dev.pipewright.trace;

import java.util.Arrays;

/** Spans of time as a set: what overlaps counts once. O(n log n) for {@code n} spans. */
public final class Intervals {
  private static final int ROOM = 64;

  private double[] starts = new double[ROOM];
  private double[] ends = new double[ROOM];
  private int size;
  private boolean merged = true;

  /** No span yet. */
  public Intervals() {}

  /** Adds a span; one that takes no time changes nothing. */
  public void add(double start, double end) {
    if (!(end > start)) {
      return;
    }
    if (size == starts.length) {
      starts = Arrays.copyOf(starts, 2 * size);
      ends = Arrays.copyOf(ends, 2 * size);
    }
    starts[size] = start;
    ends[size++] = end;
    merged = false;
  }

  /** Adds all spans of another set. */
  public void addAll(Intervals others) {
    for (int i = 0; i < others.size; i++) {
      add(others.starts[i], others.ends[i]);
    }
  }

  private void merge() {
    if (merged) {
      return;
    }
    merged = true;
    int[] order = order();
    double[] from = new double[size];
    double[] to = new double[size];
    int count = 0;
    for (int i : order) {
      if (count > 0 && starts[i] <= to[count - 1]) {
        to[count - 1] = Math.max(to[count - 1], ends[i]);
      } else {
        from[count] = starts[i];
        to[count++] = ends[i];
      }
    }
    starts = count == 0 ? new double[ROOM] : from;
    ends = count == 0 ? new double[ROOM] : to;
    size = count;
  }

  private int[] order() {
    Integer[] order = new Integer[size];
    Arrays.setAll(order, i -> i);
    Arrays.sort(order, (a, b) -> Double.compare(starts[a], starts[b]));
    return Arrays.stream(order).mapToInt(Integer::intValue).toArray();
  }

  /** How much time is in at least one span. */
  public double length() {
    merge();
    double length = 0;
    for (int i = 0; i < size; i++) {
      length += ends[i] - starts[i];
    }
    return length;
  }

  /** How much time is in a span of these and in none of the others. */
  public double lengthOutside(Intervals others) {
    merge();
    others.merge();
    double length = 0;
    int other = 0;
    for (int i = 0; i < size; i++) {
      double at = starts[i];
      while (other < others.size && others.ends[other] <= at) {
        other++;
      }
      for (int j = other; j < others.size && others.starts[j] < ends[i]; j++) {
        length += Math.max(0, others.starts[j] - at);
        at = Math.max(at, others.ends[j]);
      }
      length += Math.max(0, ends[i] - at);
    }
    return length;
  }

  /** When the first span begins; infinite where there is none. */
  public double first() {
    merge();
    return size == 0 ? Double.POSITIVE_INFINITY : starts[0];
  }

  /** When the last span ends; minus infinite where there is none. */
  public double last() {
    merge();
    return size == 0 ? Double.NEGATIVE_INFINITY : ends[size - 1];
  }
}
