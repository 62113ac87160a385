package dev.pipewright.schedule.search;

import java.util.Arrays;

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
  private final byte[] order;
  private final int[] done = new int[4]; // by kind, as in Lanes
  private int size;

  private VTurn(int ranks, int rank, int microBatches) {
    this.ranks = ranks;
    this.rank = rank;
    this.microBatches = microBatches;
    order = new byte[4 * microBatches];
  }

  /** By rank. */
  static byte[][] orders(int ranks, int microBatches) {
    byte[][] orders = new byte[ranks][];
    Arrays.setAll(orders, rank -> new VTurn(ranks, rank, microBatches).order());
    return orders;
  }

  private byte[] order() {
    int after = ranks - 1 - rank;
    times(2 * after + 1, 0);
    times(rank, 1, 0);
    times(1, 1);
    times(after, 2, 1);
    times(1, 2);
    times(microBatches, 0, 3, 1, 2);
    return order;
  }

  private void times(int count, int... kinds) {
    for (int i = 0; i < count; i++) {
      for (int kind : kinds) {
        if (done[kind] < microBatches) {
          order[size++] = (byte) kind;
          done[kind]++;
        }
      }
    }
  }
}
