package dev.pipewright.sim;

import java.util.Arrays;

/** Events by time, the earliest first, and by their order of arrival where times are equal. */
final class EventQueue {
  private double[] times = new double[64];
  private long[] events = new long[64];
  private long[] order = new long[64];
  private int size;
  private long arrivals;

  boolean isEmpty() {
    return size == 0;
  }

  /** When the next event is due. */
  double time() {
    return times[0];
  }

  void add(double time, long event) {
    if (size == times.length) {
      times = Arrays.copyOf(times, 2 * size);
      events = Arrays.copyOf(events, 2 * size);
      order = Arrays.copyOf(order, 2 * size);
    }
    int at = size++;
    long arrival = arrivals++;
    while (at > 0) {
      int parent = (at - 1) >>> 1;
      if (times[parent] <= time) {
        break; // equal ones stay in front: they came before
      }
      move(parent, at);
      at = parent;
    }
    set(at, time, event, arrival);
  }

  long poll() {
    long first = events[0];
    size--;
    if (size > 0) {
      sink(times[size], events[size], order[size]);
    }
    return first;
  }

  private void sink(double time, long event, long arrival) {
    int at = 0;
    while (2 * at + 1 < size) {
      int child = 2 * at + 1;
      if (child + 1 < size && before(child + 1, times[child], order[child])) {
        child++;
      }
      if (!before(child, time, arrival)) {
        break;
      }
      move(child, at);
      at = child;
    }
    set(at, time, event, arrival);
  }

  private boolean before(int at, double time, long arrival) {
    return times[at] < time || (times[at] == time && order[at] < arrival);
  }

  private void move(int from, int to) {
    set(to, times[from], events[from], order[from]);
  }

  private void set(int at, double time, long event, long arrival) {
    times[at] = time;
    events[at] = event;
    order[at] = arrival;
  }
}
