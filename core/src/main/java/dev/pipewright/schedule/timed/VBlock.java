package dev.pipewright.schedule.timed;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A building block of a schedule on a V: when each rank runs the four passes of the first
 * micro-batch, in sixths of the six passes' period in which the block repeats.
 *
 * <p>Paper: P. Qi et al., <i>Pipeline Parallelism with Controllable Memory</i>, NeurIPS 2024, §3:
 * passes of a rank must not meet modulo the period, and how long they lie apart is the memory.
 */
final class VBlock {
  private static final int PERIOD = 6;
  private static final int STEP = 5; // the widest offset from rank to rank
  private static final int TURN = 6; // the widest offset where a micro-batch turns

  private final int[][] at; // by rank and kind, as in VList

  private VBlock(int[][] at) {
    this.at = at;
  }

  /** All blocks of even offsets whose activations may fit into {@code cap}. */
  static List<VBlock> all(int ranks, int cap) {
    List<VBlock> all = new ArrayList<>();
    int steps = STEP * STEP * STEP * STEP;
    for (int code = 0; code < steps * TURN * TURN * TURN; code++) {
      int step = code % steps;
      int turn = code / steps;
      int[] steady = {
        1 + step % STEP,
        1 + step / STEP % STEP,
        1 + step / STEP / STEP % STEP,
        1 + step / STEP / STEP / STEP,
        1 + turn % TURN,
        1 + turn / TURN % TURN,
        1 + turn / TURN / TURN
      };
      if (fits(steady, ranks, cap)) {
        all.add(even(steady, ranks));
      }
    }
    return all;
  }

  private static VBlock even(int[] steady, int ranks) {
    int[][] at = new int[ranks][];
    for (int rank = 0; rank < ranks; rank++) {
      at[rank] = times(steady, ranks, rank);
    }
    return new VBlock(at);
  }

  private static int[] times(int[] x, int ranks, int rank) {
    int way = ranks - 1;
    return new int[] {
      rank * x[0],
      way * x[0] + x[4] + (way - rank) * x[1],
      way * (x[0] + x[1]) + x[4] + x[5] + rank * x[2],
      way * (x[0] + x[1] + x[2]) + x[4] + x[5] + x[6] + (way - rank) * x[3]
    };
  }

  private static boolean fits(int[] steady, int ranks, int cap) {
    for (int rank = 0; rank < ranks; rank++) {
      int[] at = times(steady, ranks, rank);
      int slots = 0;
      for (int time : at) {
        slots |= 1 << time % PERIOD;
      }
      if (Integer.bitCount(slots) < 4 || at[2] - at[1] + at[3] - at[0] > PERIOD * cap) {
        return false;
      }
    }
    return true;
  }

  /** The block with some passes moved, of one rank or of all on one side of it. */
  VBlock moved(SplittableRandom random) {
    int[][] moved = new int[at.length][];
    for (int rank = 0; rank < at.length; rank++) {
      moved[rank] = at[rank].clone();
    }
    for (int moves = 1 + random.nextInt(3); moves > 0; moves--) {
      int rank = random.nextInt(at.length);
      int kind = random.nextInt(4);
      int by = (1 + random.nextInt(4)) * (random.nextBoolean() ? 1 : -1);
      int way = random.nextInt(4);
      int from = way == 2 ? 0 : rank;
      int to = way == 1 ? at.length - 1 : rank;
      for (int r = from; r <= to; r++) {
        for (int k = kind; k <= (way == 3 ? 3 : kind); k++) {
          moved[r][k] += by;
        }
      }
    }
    return new VBlock(moved);
  }

  /** When the next pass of a kind is due. */
  private int due(int rank, int kind, int done) {
    return at[rank][kind] + PERIOD * done;
  }

  /** The block as a preference: what is due first. */
  void sort(int rank, int[] done, int[] kinds) {
    for (int kind = 0; kind < 4; kind++) {
      int place = kind;
      int due = due(rank, kind, done[kind]);
      while (place > 0 && due(rank, kinds[place - 1], done[kinds[place - 1]]) > due) {
        kinds[place] = kinds[place - 1];
        place--;
      }
      kinds[place] = kind;
    }
  }

  /** The block repeated, as an order by rank. */
  long[][] repeated(int microBatches) {
    int ranks = at.length;
    long[][] orders = new long[ranks][4 * microBatches];
    int[] kinds = new int[4];
    for (int rank = 0; rank < ranks; rank++) {
      int[] done = new int[4];
      for (int i = 0; i < 4 * microBatches; i++) {
        sort(rank, done, kinds);
        int next = 0;
        while (done[kinds[next]] == microBatches) {
          next++;
        }
        int kind = kinds[next];
        int stage = kind == 0 || kind == 3 ? rank : 2 * ranks - 1 - rank;
        Pass pass = kind < 2 ? Pass.FORWARD : Pass.BACKWARD_INPUT;
        orders[rank][i] = Schedule.pack(pass, stage, done[kind]++);
      }
    }
    return orders;
  }
}
