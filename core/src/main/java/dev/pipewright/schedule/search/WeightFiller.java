package dev.pipewright.schedule.search;

import java.util.Arrays;

/**
 * Puts the weights' gradients into the gaps between given forward passes and input gradients, and
 * times the outcome; orders that hold weights' gradients already are only timed.
 *
 * <p>Paper: P. Qi et al., <i>Zero Bubble Pipeline Parallelism</i>, ICLR 2024, §3.1: weights'
 * gradients run where a rank would wait anyway, or where memory is full, or at the end. Where a gap
 * is too short for one, a rank waits as long as its waits together stay within an allowance, then
 * lets what follows wait: the longest span is what counts, not each.
 *
 * <p>O(ops) for each run; the object keeps its tables from run to run.
 */
final class WeightFiller {
  private static final double SPAN = 20; // what a longest span weighs against a makespan

  private final OpLanes lanes;
  private final double kept; // part of the activations that the input's gradient leaves
  private final double[] cap; // by rank

  private final double[] arrivals; // where they are waited for, by lane and micro-batch
  private final MessageQueues messages;
  private final int[] done; // by lane
  private final double[] free; // by rank
  private final double[] begun;
  private final double[] idle; // since then
  private final int[] next;
  private final double[] held;
  private final int[] size; // of the program
  private final int[] pendingFrom;
  private final int[] pendingTo;
  private final byte[][] pending; // kinds of input gradients
  private final byte[][] programs;
  private final int[] waiting; // ranks that may move, a stack
  private final boolean[] listed;
  private int count;
  private double worst; // what any rank has waited

  WeightFiller(OpLanes lanes, double kept, double[] cap) {
    this.lanes = lanes;
    this.kept = kept;
    this.cap = cap;
    int ranks = lanes.ranks;
    arrivals = new double[Math.multiplyExact(ranks * lanes.kinds, lanes.microBatches)];
    messages = new MessageQueues(lanes);
    done = new int[ranks * lanes.kinds];
    free = new double[ranks];
    begun = new double[ranks];
    idle = new double[ranks];
    next = new int[ranks];
    held = new double[ranks];
    size = new int[ranks];
    pendingFrom = new int[ranks];
    pendingTo = new int[ranks];
    int each = lanes.kinds / 2 * lanes.microBatches;
    pending = new byte[ranks][each];
    programs = new byte[ranks][3 * each];
    waiting = new int[ranks];
    listed = new boolean[ranks];
  }

  /**
   * Fills one order.
   *
   * @param orders by rank; none at all never run
   * @param part of a weights' gradient that has to fit into a gap; below 1, what follows waits
   * @param allowance seconds that a rank may wait in gaps that are shorter
   * @return whether the order can run within the memory
   */
  boolean run(byte[][] orders, double part, double allowance) {
    if (orders.length != free.length) {
      return false;
    }
    Arrays.fill(done, 0);
    messages.clear();
    Arrays.fill(free, 0);
    Arrays.fill(idle, 0);
    worst = 0;
    Arrays.fill(next, 0);
    Arrays.fill(held, 0);
    Arrays.fill(size, 0);
    Arrays.fill(pendingFrom, 0);
    Arrays.fill(pendingTo, 0);
    Arrays.fill(listed, false);
    count = 0;
    for (int rank = free.length - 1; rank >= 0; rank--) {
      list(rank);
    }
    while (count > 0) {
      int rank = waiting[--count];
      listed[rank] = false;
      if (!advance(rank, orders[rank], part, allowance)) {
        return false;
      }
    }
    for (int rank = 0; rank < free.length; rank++) {
      if (next[rank] < orders[rank].length) {
        return false;
      }
      while (pendingFrom[rank] < pendingTo[rank]) {
        weigh(rank);
      }
    }
    return true;
  }

  private void list(int rank) {
    if (!listed[rank]) {
      listed[rank] = true;
      waiting[count++] = rank;
    }
  }

  /** Runs a rank as far as it gets; false where memory is full for ever. */
  private boolean advance(int rank, byte[] order, double part, double allowance) {
    int kinds = lanes.kinds;
    int base = rank * kinds;
    for (int at = next[rank]; at < order.length; at++) {
      int kind = order[at];
      if (kind == kinds) {
        if (pendingFrom[rank] < pendingTo[rank]) {
          weigh(rank);
        }
        continue;
      }
      int lane = base + kind;
      int microBatch = done[lane];
      int before = lanes.before[lane];
      double ready = 0;
      if (before >= 0) {
        if (done[before] <= microBatch) {
          next[rank] = at;
          return true;
        }
        ready = arrivals[before * lanes.microBatches + microBatch];
      }
      boolean isForward = kind < kinds / 2;
      int left = pendingTo[rank] - pendingFrom[rank];
      while (left > 0
          && ((isForward && full(rank)) || fits(rank, ready - free[rank], part, allowance))) {
        weigh(rank);
        left--;
      }
      if (isForward && full(rank)) {
        return false;
      }
      compute(rank, kind, lane, isForward, ready);
    }
    next[rank] = order.length;
    return true;
  }

  private boolean fits(int rank, double gap, double part, double allowance) {
    double seconds = lanes.weight[rank * lanes.kinds + pending[rank][pendingFrom[rank]]];
    return gap > 1e-12 * free[rank]
        && (gap >= part * seconds * (1 - 1e-12) || idle[rank] + gap > Math.max(allowance, worst));
  }

  private boolean full(int rank) {
    return held[rank] + 1 > cap[rank] + 1e-6;
  }

  /** One pass; a million times for each search, so that it reads no table twice. */
  private void compute(int rank, int kind, int lane, boolean isForward, double ready) {
    double now = free[rank];
    int ops = size[rank];
    if (ops == 0) {
      now = Math.max(now, ready);
      begun[rank] = now;
    } else if (ready > now) {
      double waited = idle[rank] + (ready - now);
      idle[rank] = waited;
      worst = Math.max(worst, waited);
      now = ready;
    }
    now += lanes.seconds[lane];
    free[rank] = now;
    int woken = lanes.wakes[lane];
    arrivals[lane * lanes.microBatches + done[lane]++] =
        woken == rank ? now : messages.arrival(lane, now);
    programs[rank][ops] = (byte) kind;
    size[rank] = ops + 1;
    if (isForward) {
      held[rank]++;
    } else {
      held[rank] -= 1 - kept;
      pending[rank][pendingTo[rank]++] = (byte) kind;
    }
    if (woken != rank) {
      list(woken);
    }
  }

  private void weigh(int rank) {
    free[rank] += lanes.weight[rank * lanes.kinds + pending[rank][pendingFrom[rank]++]];
    programs[rank][size[rank]++] = (byte) lanes.weights();
    held[rank] -= kept;
  }

  /** When the last op of the last run ends. */
  double makespan() {
    double last = 0;
    for (double end : free) {
      last = Math.max(last, end);
    }
    return last;
  }

  /** The longest time from a rank's first op to its last in the last run. */
  double span() {
    double longest = 0;
    for (int rank = 0; rank < free.length; rank++) {
      longest = Math.max(longest, free[rank] - begun[rank]);
    }
    return longest;
  }

  /** The longest that a rank waits in the last run. */
  double idle() {
    double longest = 0;
    for (double each : idle) {
      longest = Math.max(longest, each);
    }
    return longest;
  }

  /** The longest span before the makespan, as the papers weigh them; less is better. */
  double length() {
    return makespan() + SPAN * span();
  }

  /** The same, then the ranks' spans on average: they lead a search on where it stays the same. */
  double score() {
    double sum = 0;
    for (int rank = 0; rank < free.length; rank++) {
      sum += free[rank] - begun[rank];
    }
    return length() + 1e-3 * sum / free.length;
  }

  /** The programs of the last run. */
  byte[][] programs() {
    byte[][] copies = new byte[programs.length][];
    for (int rank = 0; rank < copies.length; rank++) {
      copies[rank] = Arrays.copyOf(programs[rank], size[rank]);
    }
    return copies;
  }
}
