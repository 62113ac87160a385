package dev.pipewright.schedule.search;

import java.util.Arrays;

/**
 * Runs programs in the order of time and lets a rank that would have to wait take a later op of its
 * own instead, if that is ready, fits into the gap and holds no more memory than there is.
 *
 * <p>Paper: P. Qi et al., <i>Pipeline Parallelism with Controllable Memory</i>, NeurIPS 2024, §3
 * (squeezing and reordering); here with the times given.
 */
final class Reorder {
  private static final int REACH = 200; // places further on

  private final OpLanes lanes;
  private final double[] cap;
  private final double[] arrivals; // where they are waited for, by lane and micro-batch
  private final MessageQueues messages;
  private final int[] done; // by lane
  private final Earliest earliest; // when ranks decide next
  private final double[] free;
  private final double[] held;
  private final byte[][] pending;
  private final int[] pendingFrom;
  private final int[] pendingTo;
  private final int[] from;
  private final boolean[][] taken;
  private final byte[][] programs;
  private final int[] size;

  Reorder(OpLanes lanes, double[] cap) {
    this.lanes = lanes;
    this.cap = cap;
    int ranks = lanes.ranks;
    int each = lanes.kinds / 2 * lanes.microBatches;
    arrivals = new double[ranks * lanes.kinds * lanes.microBatches];
    messages = new MessageQueues(lanes);
    done = new int[ranks * lanes.kinds];
    earliest = new Earliest(ranks);
    free = new double[ranks];
    held = new double[ranks];
    pending = new byte[ranks][each];
    pendingFrom = new int[ranks];
    pendingTo = new int[ranks];
    from = new int[ranks];
    taken = new boolean[ranks][3 * each];
    programs = new byte[ranks][3 * each];
    size = new int[ranks];
  }

  /** Programs by rank; empty where all wait for ever. */
  byte[][] run(byte[][] given, double slack) {
    Arrays.fill(done, 0);
    messages.clear();
    Arrays.fill(free, 0);
    Arrays.fill(held, 0);
    Arrays.fill(pendingFrom, 0);
    Arrays.fill(pendingTo, 0);
    Arrays.fill(from, 0);
    Arrays.fill(size, 0);
    int left = 0;
    for (int rank = 0; rank < given.length; rank++) {
      Arrays.fill(taken[rank], false);
      left += given[rank].length;
    }
    while (left > 0) {
      int rank = earliest.first();
      if (earliest.at(rank) == Double.POSITIVE_INFINITY) {
        return new byte[0][];
      }
      if (decide(rank, given[rank], slack)) {
        left--;
      }
    }
    return programs;
  }

  private boolean decide(int rank, byte[] program, double slack) {
    boolean[] gone = taken[rank];
    int first = from[rank];
    while (first < program.length && gone[first]) {
      first++;
    }
    from[rank] = first;
    if (first == program.length) {
      earliest.set(rank, Double.POSITIVE_INFINITY);
      return false;
    }
    double now = earliest.at(rank);
    double soon = now * (1 + 1e-9);
    double ready = ready(rank, program[first]);
    if (ready <= soon) {
      compute(rank, program[first], now);
      from[rank]++;
      return true;
    }
    double gap = ready - now + slack;
    int seen = 1 << program[first] | over(rank);
    double delta = delta(program[first]);
    double peak = Math.max(0, delta);
    double soonest = ready;
    int last = Math.min(program.length, first + REACH);
    for (int at = first + 1; at < last && seen != (2 << lanes.kinds) - 1; at++) {
      if (gone[at]) {
        continue;
      }
      int kind = program[at];
      if ((seen & 1 << kind) == 0) {
        seen |= 1 << kind;
        boolean room = kind >= lanes.kinds / 2 || held[rank] + peak + 1 <= cap[rank] + 1e-6;
        double mine = room ? ready(rank, kind) : Double.POSITIVE_INFINITY;
        if (mine <= soon && seconds(rank, kind) <= gap * (1 + 1e-9)) {
          compute(rank, kind, now);
          gone[at] = true;
          return true;
        }
        if (mine > soon) {
          soonest = Math.min(soonest, mine);
        }
      }
      delta += delta(kind);
      peak = Math.max(peak, delta);
    }
    free[rank] = now;
    earliest.set(rank, soonest);
    return false;
  }

  /** Kinds of which no op is left, a bit for each. */
  private int over(int rank) {
    int over = 0;
    for (int kind = 0; kind < lanes.kinds; kind++) {
      over |= done[rank * lanes.kinds + kind] == lanes.microBatches ? 1 << kind : 0;
    }
    return over;
  }

  private double delta(int kind) {
    if (kind == lanes.weights()) {
      return -1;
    }
    return lanes.isForward(kind) ? 1 : 0;
  }

  private double seconds(int rank, int kind) {
    return kind == lanes.weights()
        ? lanes.weight[rank * lanes.kinds + pending[rank][pendingFrom[rank]]]
        : lanes.seconds[rank * lanes.kinds + kind];
  }

  private double ready(int rank, int kind) {
    if (kind == lanes.weights()) {
      return pendingFrom[rank] < pendingTo[rank] ? 0 : Double.POSITIVE_INFINITY;
    }
    int lane = rank * lanes.kinds + kind;
    if (lanes.isForward(kind) && held[rank] + 1 > cap[rank] + 1e-6) {
      return Double.POSITIVE_INFINITY;
    }
    int before = lanes.before[lane];
    if (before < 0) {
      return 0;
    }
    return done[before] <= done[lane]
        ? Double.POSITIVE_INFINITY
        : arrivals[before * lanes.microBatches + done[lane]];
  }

  private void compute(int rank, int kind, double now) {
    double end = now + seconds(rank, kind);
    programs[rank][size[rank]++] = (byte) kind;
    held[rank] += delta(kind);
    free[rank] = end;
    earliest.set(rank, end);
    if (kind == lanes.weights()) {
      pendingFrom[rank]++;
      return;
    }
    int lane = rank * lanes.kinds + kind;
    int woken = lanes.wakes[lane];
    double arrival = end;
    if (woken != rank) {
      arrival = messages.arrival(lane, end);
      earliest.set(woken, Math.max(free[woken], Math.min(earliest.at(woken), arrival)));
    }
    arrivals[lane * lanes.microBatches + done[lane]++] = arrival;
    if (!lanes.isForward(kind)) {
      pending[rank][pendingTo[rank]++] = (byte) kind;
    }
  }
}
