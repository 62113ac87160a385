package dev.pipewright.schedule.search;

import java.util.ArrayList;
import java.util.Arrays;
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

  private final int[][] at; // by rank and kind, as in Lanes

  private VBlock(int[][] at) {
    this.at = at;
  }

  /** All blocks of even offsets whose activations may fit into {@code cap}. */
  static List<VBlock> all(int ranks, int cap) {
    List<VBlock> all = new ArrayList<>();
    int[] steady = new int[7];
    Arrays.fill(steady, 1);
    do {
      if (fits(steady, ranks, cap)) {
        all.add(even(steady, ranks));
      }
    } while (next(steady));
    return all;
  }

  /** Counts on; false after the last. */
  private static boolean next(int[] steady) {
    for (int i = 0; i < steady.length; i++) {
      if (steady[i] < (i < 4 ? STEP : TURN)) {
        steady[i]++;
        return true;
      }
      steady[i] = 1;
    }
    return false;
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
    int turn = way * x[0] + x[4];
    int loss = turn + way * x[1] + x[5];
    int back = loss + way * x[2] + x[6];
    return new int[] {
      rank * x[0], turn + (way - rank) * x[1], loss + rank * x[2], back + (way - rank) * x[3]
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

  /** The block repeated with weights' gradients where it leaves room. */
  byte[][] programs(int microBatches) {
    byte[][] programs = new byte[at.length][6 * microBatches];
    for (int rank = 0; rank < at.length; rank++) {
      byte[] program = programs[rank];
      int[] done = new int[4];
      int pending = 0;
      int size = 0;
      for (int time = at[rank][0]; size < program.length; time++) {
        int now = -1;
        for (int kind = 0; kind < 4; kind++) {
          if (done[kind] < microBatches && due(rank, kind, done[kind]) <= time) {
            now = kind;
            break;
          }
        }
        if (now >= 0) {
          done[now]++;
          pending += now >= 2 ? 1 : 0;
          program[size++] = (byte) now;
        } else if (pending > 0) {
          pending--;
          program[size++] = 4;
        }
      }
    }
    return programs;
  }
}
