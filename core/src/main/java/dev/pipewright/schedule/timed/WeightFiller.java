package dev.pipewright.schedule.timed;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import java.util.Arrays;

/**
 * Puts the weights' gradients into the gaps between given forward passes and input gradients, and
 * times the outcome: nobody waits for a weights' gradient but the memory it frees.
 *
 * <p>Paper: P. Qi et al., <i>Zero Bubble Pipeline Parallelism</i>, ICLR 2024, §3.1: weights'
 * gradients run where a rank would wait anyway, or where memory is full, or at the end.
 *
 * <p>O(ops) for each run; the object keeps its tables from run to run.
 */
final class WeightFiller {
  private final Placement placement;
  private final int microBatches;
  private final double[] forward; // by stage
  private final double[] input;
  private final double[] weight;
  private final double transfer;
  private final double kept; // part of the activations that the input's gradient leaves
  private final int[] cap; // by rank

  private final double[] forwardDone; // by stage and micro-batch; NaN until then
  private final double[] inputDone;
  private final double[] free; // by rank
  private final double[] begun;
  private final int[] next;
  private final double[] held;
  private final int[] size; // of the program
  private final int[] pendingFrom;
  private final int[] pendingTo;
  private final long[][] pending;
  private final long[][] programs;
  private final int[] waiting; // ranks that may move, a stack
  private final boolean[] listed;
  private int count;

  WeightFiller(
      Placement placement,
      int microBatches,
      double[] forward,
      double[] input,
      double[] weight,
      double transfer,
      double kept,
      int[] cap) {
    this.placement = placement;
    this.microBatches = microBatches;
    this.forward = forward;
    this.input = input;
    this.weight = weight;
    this.transfer = transfer;
    this.kept = kept;
    this.cap = cap;
    int ranks = placement.ranks();
    int places = Math.multiplyExact(placement.stages(), microBatches);
    forwardDone = new double[places];
    inputDone = new double[places];
    free = new double[ranks];
    begun = new double[ranks];
    next = new int[ranks];
    held = new double[ranks];
    size = new int[ranks];
    pendingFrom = new int[ranks];
    pendingTo = new int[ranks];
    int each = places / ranks;
    pending = new long[ranks][each];
    programs = new long[ranks][3 * each];
    waiting = new int[ranks];
    listed = new boolean[ranks];
  }

  /**
   * Fills one order of forward passes and input gradients.
   *
   * @param orders by rank; none at all never run
   * @param part of a weights' gradient that has to fit into a gap; below 1, what follows waits
   * @return whether the order can run within the memory
   */
  boolean run(long[][] orders, double part) {
    if (orders.length != free.length) {
      return false;
    }
    reset();
    for (int rank = free.length - 1; rank >= 0; rank--) {
      list(rank);
    }
    while (count > 0) {
      int rank = waiting[--count];
      listed[rank] = false;
      if (!advance(rank, orders[rank], part)) {
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

  private void reset() {
    Arrays.fill(forwardDone, Double.NaN);
    Arrays.fill(inputDone, Double.NaN);
    Arrays.fill(free, 0);
    Arrays.fill(begun, Double.NaN);
    Arrays.fill(next, 0);
    Arrays.fill(held, 0);
    Arrays.fill(size, 0);
    Arrays.fill(pendingFrom, 0);
    Arrays.fill(pendingTo, 0);
    Arrays.fill(listed, false);
    count = 0;
  }

  private void list(int rank) {
    if (!listed[rank]) {
      listed[rank] = true;
      waiting[count++] = rank;
    }
  }

  /** Runs a rank as far as it gets; false where memory is full for ever. */
  private boolean advance(int rank, long[] order, double part) {
    while (next[rank] < order.length) {
      long op = order[next[rank]];
      boolean isForward = Schedule.pass(op) == Pass.FORWARD;
      double ready = isForward ? forwardReady(rank, op) : inputReady(rank, op);
      if (Double.isNaN(ready)) {
        return true;
      }
      while (weightsDue(rank, isForward, ready, part)) {
        weigh(rank);
      }
      if (isForward && full(rank)) {
        return false;
      }
      compute(rank, op, isForward, ready);
      next[rank]++;
    }
    return true;
  }

  private boolean weightsDue(int rank, boolean isForward, double ready, double part) {
    if (pendingFrom[rank] == pendingTo[rank]) {
      return false;
    }
    double seconds = weight[Schedule.stage(pending[rank][pendingFrom[rank]])];
    return (isForward && full(rank))
        || (ready > free[rank] && ready - free[rank] >= part * seconds * (1 - 1e-12));
  }

  private boolean full(int rank) {
    return held[rank] + 1 > cap[rank] + 1e-6;
  }

  private void compute(int rank, long op, boolean isForward, double ready) {
    int stage = Schedule.stage(op);
    int place = stage * microBatches + Schedule.microBatch(op);
    double start = Math.max(free[rank], ready);
    double end = start + (isForward ? forward[stage] : input[stage]);
    if (size[rank] == 0) {
      begun[rank] = start;
    }
    free[rank] = end;
    programs[rank][size[rank]++] = op;
    if (isForward) {
      held[rank]++;
      forwardDone[place] = end;
      wake(rank, placement.last(stage) ? rank : placement.rankOf(stage + 1));
    } else {
      held[rank] -= 1 - kept;
      pending[rank][pendingTo[rank]++] = op;
      inputDone[place] = end;
      wake(rank, placement.first(stage) ? rank : placement.rankOf(stage - 1));
    }
  }

  private void weigh(int rank) {
    long op = pending[rank][pendingFrom[rank]++];
    int stage = Schedule.stage(op);
    programs[rank][size[rank]++] =
        Schedule.pack(Pass.BACKWARD_WEIGHT, stage, Schedule.microBatch(op));
    free[rank] += weight[stage];
    held[rank] -= kept;
  }

  private void wake(int rank, int other) {
    if (rank != other) {
      list(other);
    }
  }

  private double forwardReady(int rank, long op) {
    int stage = Schedule.stage(op);
    return placement.first(stage) ? 0 : arrival(forwardDone, stage - 1, rank, op);
  }

  private double inputReady(int rank, long op) {
    int stage = Schedule.stage(op);
    double own = forwardDone[stage * microBatches + Schedule.microBatch(op)];
    return placement.last(stage) ? own : Math.max(own, arrival(inputDone, stage + 1, rank, op));
  }

  private double arrival(double[] done, int stage, int rank, long op) {
    double at = done[stage * microBatches + Schedule.microBatch(op)];
    return placement.rankOf(stage) == rank ? at : at + transfer;
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

  /**
   * Less is better: the longest span before the makespan, as the papers weigh them, then the ranks'
   * spans on average, which lead a search on where the longest stays the same.
   */
  double score() {
    double sum = 0;
    for (int rank = 0; rank < free.length; rank++) {
      sum += free[rank] - begun[rank];
    }
    return makespan() + 3 * span() + 1e-3 * sum / free.length;
  }

  /** The programs of the last run. */
  long[][] programs() {
    long[][] copies = new long[programs.length][];
    for (int rank = 0; rank < copies.length; rank++) {
      copies[rank] = Arrays.copyOf(programs[rank], size[rank]);
    }
    return copies;
  }
}
