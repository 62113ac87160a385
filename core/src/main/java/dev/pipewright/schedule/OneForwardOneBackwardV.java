package dev.pipewright.schedule;

import dev.pipewright.schedule.Op.Pass;
import java.util.Arrays;

/**
 * 1F1B over a V: rank {@code r} of p runs stages r and 2p−1−r. It saves a third of the memory of
 * 1F1B: a rank holds at most {@code 2(⌊2p/3⌋+1)} activations of half its layers, the first rank of
 * 1F1B as much as 2p.
 *
 * <p>Paper: P. Qi, X. Wan, N. Amar, M. Lin, <i>Pipeline Parallelism with Controllable Memory</i>,
 * NeurIPS 2024, arXiv:2405.15362: 1F1B-V, with whole backward passes. A {@link TurningBlock} is
 * repeated and then squeezed: in the order of their times all passes move to the earliest gap of
 * their rank, forward passes only as far as no rank holds more than the most that one holds in the
 * repeated block.
 *
 * <p>O(p³) for the first 3p micro-batches or somewhat more, whose order repeats before they end,
 * and O(ops). Departs: the order is that of endlessly many micro-batches, less those from m on, so
 * that few micro-batches do not change the warm-up.
 */
public final class OneForwardOneBackwardV {
  private static final int CYCLE = 4; // passes of two stages
  private static final long FREE = -1;
  private static final long TAKEN = -2; // the second half of a backward pass

  private final int ranks;
  private final TurningBlock block;
  private final int settled; // the micro-batch from which on the order repeats
  private final int simulated;
  private final int limit; // activations on a rank
  private final long[][] ops; // by rank and time
  private final int[][] held; // by rank and time
  private final int[] forwardEnd; // by stage and micro-batch
  private final int[] backwardEnd;

  private OneForwardOneBackwardV(int ranks, int settled) {
    this.ranks = ranks;
    this.settled = settled;
    block = TurningBlock.of(ranks);
    simulated = settled + ranks + 8;
    int horizon = block.backward(0) + simulated * TurningBlock.PERIOD;
    ops = new long[ranks][horizon];
    held = new int[ranks][horizon];
    forwardEnd = new int[2 * ranks * simulated];
    backwardEnd = new int[2 * ranks * simulated];
    repeat();
    limit = accumulate(held);
  }

  public static Schedule of(int ranks, int microBatches) {
    DelayedWeights.check(ranks, microBatches);
    var order = squeezed(ranks, 2 * ranks + 4);
    for (int times = 3; !order.repeats(); times++) { // some multiples of 3 take longer to settle
      order = squeezed(ranks, times * ranks + 4);
    }
    long[][] programs = new long[ranks][];
    for (int rank = 0; rank < ranks; rank++) {
      programs[rank] = order.program(rank, microBatches);
    }
    return new Schedule("1f1b-v", Placement.waves(ranks, 2), microBatches, programs);
  }

  private static OneForwardOneBackwardV squeezed(int ranks, int settled) {
    var order = new OneForwardOneBackwardV(ranks, settled);
    order.squeeze();
    return order;
  }

  private int rankOf(int stage) {
    return stage < ranks ? stage : 2 * ranks - 1 - stage;
  }

  private void repeat() {
    for (long[] program : ops) {
      Arrays.fill(program, FREE);
    }
    for (int stage = 0; stage < 2 * ranks; stage++) {
      for (int i = 0; i < simulated; i++) {
        putPasses(rankOf(stage), stage, i);
      }
    }
  }

  private void putPasses(int rank, int stage, int microBatch) {
    int forward = block.forward(stage) + microBatch * TurningBlock.PERIOD;
    int backward = block.backward(stage) + microBatch * TurningBlock.PERIOD;
    put(rank, forward, Schedule.pack(Pass.FORWARD, stage, microBatch));
    put(rank, backward, Schedule.pack(Pass.BACKWARD, stage, microBatch));
    held[rank][forward]++;
    held[rank][backward + TurningBlock.BACKWARD]--;
  }

  /** Sums what each time adds; the most that any rank holds. */
  private static int accumulate(int[][] held) {
    int most = 0;
    for (int[] changes : held) {
      for (int time = 1; time < changes.length; time++) {
        changes[time] += changes[time - 1];
        most = Math.max(most, changes[time]);
      }
    }
    return most;
  }

  private static boolean isForward(long op) {
    return Schedule.pass(op) == Pass.FORWARD;
  }

  private void put(int rank, int time, long op) {
    ops[rank][time] = op;
    if (!isForward(op)) {
      ops[rank][time + 1] = TAKEN;
    }
  }

  private void clear(int rank, int time) {
    if (!isForward(ops[rank][time])) {
      ops[rank][time + 1] = FREE;
    }
    ops[rank][time] = FREE;
  }

  private void hold(int rank, int from, int to, int more) {
    int[] onRank = held[rank];
    for (int time = from; time < to; time++) {
      onRank[time] += more;
    }
  }

  private void squeeze() {
    for (int time = 0; time < ops[0].length; time++) {
      for (int rank = 0; rank < ranks; rank++) {
        if (ops[rank][time] >= 0) {
          moveAhead(rank, time);
        }
      }
    }
  }

  private void moveAhead(int rank, int time) {
    long op = ops[rank][time];
    clear(rank, time);
    int place = Schedule.stage(op) * simulated + Schedule.microBatch(op);
    if (isForward(op)) {
      int to = gap(rank, affordable(rank, time, ready(op)), TurningBlock.FORWARD);
      hold(rank, to, time, 1);
      forwardEnd[place] = to + TurningBlock.FORWARD;
      put(rank, to, op);
    } else {
      int to = gap(rank, ready(op), TurningBlock.BACKWARD);
      hold(rank, to + TurningBlock.BACKWARD, time + TurningBlock.BACKWARD, -1);
      backwardEnd[place] = to + TurningBlock.BACKWARD;
      put(rank, to, op);
    }
  }

  /** When an op's inputs are there. */
  private int ready(long op) {
    int stage = Schedule.stage(op);
    int place = stage * simulated + Schedule.microBatch(op);
    if (isForward(op)) {
      return stage == 0 ? 0 : forwardEnd[place - simulated];
    }
    boolean last = stage == 2 * ranks - 1;
    return last ? forwardEnd[place] : backwardEnd[place + simulated];
  }

  /** The earliest time from which on the rank has room for one activation more. */
  private int affordable(int rank, int time, int ready) {
    int[] onRank = held[rank];
    int from = time;
    while (from > ready && onRank[from - 1] < limit) {
      from--;
    }
    return from;
  }

  /** The first time from {@code from} on at which a rank does nothing for so long. */
  private int gap(int rank, int from, int length) {
    long[] onRank = ops[rank];
    int start = from;
    for (int time = from; time - start < length; time++) {
      if (onRank[time] != FREE) {
        start = time + 1;
      }
    }
    return start;
  }

  /** The order as found until it repeats, then four ops over and over. */
  private long[] program(int rank, int microBatches) {
    long[] program = new long[Math.multiplyExact(CYCLE, microBatches)];
    int from = repeatsFrom(rank);
    int size = 0;
    for (int time = 0; time < from; time++) {
      long op = ops[rank][time];
      if (op >= 0 && Schedule.microBatch(op) < microBatches) {
        program[size++] = op;
      }
    }
    long[] cycle = next(rank, from, CYCLE);
    for (int later = 0; size < program.length; later++) {
      for (long op : cycle) {
        if (Schedule.microBatch(op) + later < microBatches) {
          program[size++] = op + later; // the micro-batch is the lowest part
        }
      }
    }
    return program;
  }

  /** When a rank runs its first stage on the micro-batch from which on the order repeats. */
  private int repeatsFrom(int rank) {
    long repeating = Schedule.pack(Pass.FORWARD, rank, settled);
    int time = 0;
    while (ops[rank][time] != repeating) {
      time++;
    }
    return time;
  }

  /** Whether the order repeats by then on every rank: three times in a row will do. */
  private boolean repeats() {
    for (int rank = 0; rank < ranks; rank++) {
      long[] next = next(rank, repeatsFrom(rank), 3 * CYCLE);
      for (int i = CYCLE; i < next.length; i++) {
        if (next[i] != next[i - CYCLE] + 1) {
          return false;
        }
      }
    }
    return true;
  }

  private long[] next(int rank, int from, int count) {
    long[] next = new long[count];
    int size = 0;
    for (int time = from; size < count; time++) {
      if (ops[rank][time] >= 0) {
        next[size++] = ops[rank][time];
      }
    }
    return next;
  }
}
