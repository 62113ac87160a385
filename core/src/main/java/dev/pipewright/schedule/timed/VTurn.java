package dev.pipewright.schedule.timed;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Program;

/**
 * The order of ZB-V: each rank fills its memory with forward passes, then runs a forward and a
 * backward pass of each way in turn, so that weights' gradients fill every wait.
 *
 * <p>Paper: P. Qi et al., <i>Pipeline Parallelism with Controllable Memory</i>, NeurIPS 2024, §3
 * (ZB-V); activations of {@code 2 · ranks} stages and no waits in between for passes of one length.
 */
final class VTurn {
  private final int ranks;
  private final int rank;
  private final int microBatches;
  private final Program program = new Program();
  private final int[] done = new int[4]; // by kind, as in VList

  private VTurn(int ranks, int rank, int microBatches) {
    this.ranks = ranks;
    this.rank = rank;
    this.microBatches = microBatches;
  }

  /** By rank. */
  static long[][] orders(int ranks, int microBatches) {
    long[][] orders = new long[ranks][];
    for (int rank = 0; rank < ranks; rank++) {
      orders[rank] = new VTurn(ranks, rank, microBatches).order();
    }
    return orders;
  }

  private long[] order() {
    int after = ranks - 1 - rank;
    times(2 * after + 1, 0);
    times(rank, 1, 0);
    times(1, 1);
    times(after, 2, 1);
    times(1, 2);
    times(microBatches, 0, 3, 1, 2);
    return program.packed();
  }

  private void times(int count, int... kinds) {
    for (int i = 0; i < count; i++) {
      for (int kind : kinds) {
        add(kind);
      }
    }
  }

  private void add(int kind) {
    if (done[kind] < microBatches) {
      int stage = kind == 0 || kind == 3 ? rank : 2 * ranks - 1 - rank;
      program.add(kind < 2 ? Pass.FORWARD : Pass.BACKWARD_INPUT, stage, done[kind]++);
    }
  }
}
