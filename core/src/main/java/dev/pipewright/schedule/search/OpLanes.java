package dev.pipewright.schedule.search;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import java.util.Arrays;

/**
 * The passes of a pipeline that runs straight or there and back in a V, laid out for loops that run
 * a million times. A lane is all passes of one kind on one rank, in the order of their
 * micro-batches. The kinds of a rank are numbered as a micro-batch meets them: 0 and 1 forward
 * there and back, 2 and 3 backward; or 0 forward and 1 backward where each rank has one stage only.
 *
 * <p>An order is the kinds that a rank runs one after the other. A program is one with the weights'
 * gradients, which {@link #weights} stands for: always the one whose input gradient ran first.
 */
final class OpLanes {
  private final Placement placement;
  private final OpTimes times;
  final int ranks;
  final int microBatches;
  final int kinds; // of a rank
  final double[] seconds; // of a pass, by lane: rank · kinds + kind
  final double[] weight; // of the weights' gradient of its stage, by lane
  final int[] before; // the lane that it waits for, or -1
  final int[] wakes; // the rank that waits for it; itself where none does
  final double[] transfer; // to that rank
  final int[] way; // of its messages, which go one after the other
  private final double busiest; // what the busiest rank computes
  private final double shortest; // a rank cannot start before the first micro-batch reaches it

  OpLanes(Placement placement, int microBatches, OpTimes times) {
    this.placement = placement;
    this.times = times;
    this.microBatches = microBatches;
    ranks = placement.ranks();
    kinds = 2 * placement.stages() / ranks;
    int lanes = ranks * kinds;
    seconds = new double[lanes];
    weight = new double[lanes];
    before = new int[lanes];
    wakes = new int[lanes];
    transfer = new double[lanes];
    way = new int[lanes];
    for (int lane = 0; lane < lanes; lane++) {
      int rank = lane / kinds;
      int kind = lane % kinds;
      int stage = stage(rank, kind);
      seconds[lane] = (isForward(kind) ? times.forward() : times.input())[stage];
      weight[lane] = times.weight()[stage];
      wakes[lane] = rank;
      before[lane] = -1;
    }
    for (int lane = 0; lane < lanes; lane++) {
      connect(lane, stage(lane / kinds, lane % kinds));
    }
    // What the busiest rank computes, and when that can be over at the soonest.
    double most = 0;
    double latest = 0;
    double head = 0;
    for (int rank = 0; rank < ranks; rank++) {
      most = Math.max(most, busy(rank));
      int last = (rank - 1) * kinds;
      head += rank == 0 ? 0 : seconds[last] + transfer[last];
      latest = Math.max(latest, head + busy(rank));
    }
    busiest = most;
    shortest = latest;
  }

  private double busy(int rank) {
    double busy = 0;
    for (int lane = rank * kinds; lane < (rank + 1) * kinds; lane++) {
      busy += seconds[lane] + (isForward(lane % kinds) ? 0 : weight[lane]);
    }
    return busy * microBatches;
  }

  private void connect(int lane, int stage) {
    boolean forward = isForward(lane % kinds);
    if (forward ? placement.first(stage) : placement.last(stage)) {
      before[lane] = forward ? -1 : lane(stage, true);
      return;
    }
    int other = forward ? stage - 1 : stage + 1;
    int from = placement.rankOf(other);
    int to = placement.rankOf(stage);
    before[lane] = lane(other, forward);
    wakes[before[lane]] = to;
    if (from != to) { // neighbours
      transfer[before[lane]] = forward ? times.there()[other] : times.back()[stage];
      way[before[lane]] = 2 * from + (from < to ? 1 : 0);
    }
  }

  /** How many ways there are from ranks to their neighbours. */
  int ways() {
    return 2 * ranks;
  }

  private int lane(int stage, boolean forward) {
    int chunk = stage / ranks;
    return placement.rankOf(stage) * kinds + (forward ? chunk : kinds - 1 - chunk);
  }

  boolean isForward(int kind) {
    return kind < kinds / 2;
  }

  /** What stands for a weights' gradient in a program. */
  int weights() {
    return kinds;
  }

  int stage(int rank, int kind) {
    int chunk = isForward(kind) ? kind : kinds - 1 - kind;
    return chunk == 0 ? rank : 2 * ranks - 1 - rank;
  }

  /** Programs as they are packed in a {@link Schedule}. */
  long[][] packed(byte[][] programs) {
    long[][] packed = new long[ranks][];
    for (int rank = 0; rank < ranks; rank++) {
      packed[rank] = packed(rank, programs[rank]);
    }
    return packed;
  }

  private long[] packed(int rank, byte[] program) {
    long[] packed = new long[program.length];
    int[] done = new int[kinds];
    int weighed = 0;
    int begun = 0; // input gradients, each of which becomes a weights' gradient
    long[] pending = new long[program.length];
    for (int i = 0; i < program.length; i++) {
      int kind = program[i];
      if (kind == weights()) {
        packed[i] = pending[weighed++];
        continue;
      }
      int stage = stage(rank, kind);
      int microBatch = done[kind]++;
      Pass pass = isForward(kind) ? Pass.FORWARD : Pass.BACKWARD_INPUT;
      packed[i] = Schedule.pack(pass, stage, microBatch);
      if (!isForward(kind)) {
        pending[begun++] = Schedule.pack(Pass.BACKWARD_WEIGHT, stage, microBatch);
      }
    }
    return packed;
  }

  /** Whether all passes have one length and transfers take no time. */
  boolean isEqual() {
    for (int lane = 0; lane < seconds.length; lane++) {
      if (seconds[lane] != seconds[0] || weight[lane] != seconds[0] || transfer[lane] != 0) {
        return false;
      }
    }
    return true;
  }

  /** The same passes for another number of micro-batches. */
  OpLanes with(int others) {
    return new OpLanes(placement, others, times);
  }

  /** The same passes, of one length and without transfers. */
  OpLanes equal() {
    return new OpLanes(placement, microBatches, OpTimes.equal(placement.stages(), 1, 1, 1, 0));
  }

  /**
   * Programs without weights' gradients after a rank's last forward pass of its first stage, where
   * memory needs them no longer.
   */
  byte[][] cooled(byte[][] programs) {
    byte[][] cooled = new byte[programs.length][];
    for (int rank = 0; rank < programs.length; rank++) {
      byte[] program = programs[rank];
      int size = 0;
      int forward = 0;
      byte[] kept = new byte[program.length];
      for (byte kind : program) {
        forward += kind == 0 ? 1 : 0;
        if (kind != weights() || forward < microBatches) {
          kept[size++] = kind;
        }
      }
      cooled[rank] = Arrays.copyOf(kept, size);
    }
    return cooled;
  }

  /** How many ops all ranks have together. */
  long size() {
    return 3L * ranks * kinds / 2 * microBatches;
  }

  /** Whether no rank's span and no makespan can be shorter than these. */
  boolean isLeast(double span, double makespan) {
    return span <= busiest * (1 + 1e-12) && makespan <= shortest * (1 + 1e-12);
  }
}
