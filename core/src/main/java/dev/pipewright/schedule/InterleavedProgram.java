package dev.pipewright.schedule;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.units.Check;

/**
 * One forward, one backward over several stages of a rank: after a warm-up of forward passes one
 * forward and one backward in turn, each in its {@link InterleavedOrder}.
 */
final class InterleavedProgram {
  private final int ranks;
  private final int rank;
  private final int chunks;
  private final int microBatches;
  private final int group;
  private long[] program = {};
  private int size;

  /**
   * Micro-batches in a group: as few as possible but not fewer than ranks, so that a group is back
   * at the first rank when the rank has sent the group on.
   */
  static int group(int ranks, int microBatches) {
    check(ranks, 1, microBatches, 1);
    int groups = Math.max(1, microBatches / ranks);
    return Math.ceilDiv(microBatches, groups);
  }

  private InterleavedProgram(int ranks, int rank, int chunks, int microBatches, int group) {
    this.ranks = ranks;
    this.rank = rank;
    this.chunks = chunks;
    this.microBatches = microBatches;
    this.group = group;
  }

  static void check(int ranks, int chunks, int microBatches, int group) {
    Check.that(
        ranks >= 1 && chunks >= 1 && microBatches >= 1 && group >= 1,
        "an interleaved schedule has ranks, chunks, micro-batches and groups of at least one: ranks=%d, chunks=%d, micro_batches=%d, group=%d",
        ranks,
        chunks,
        microBatches,
        group);
  }

  /**
   * With whole backward passes.
   *
   * @param ahead forward passes before the first pair
   */
  static long[] whole(int ranks, int rank, int chunks, int microBatches, int group, int ahead) {
    var writer = new InterleavedProgram(ranks, rank, chunks, microBatches, group);
    writer.program = new long[Math.multiplyExact(2 * chunks, microBatches)];
    writer.write(ahead, Pass.BACKWARD, 0);
    return writer.program;
  }

  /**
   * With split backward passes.
   *
   * @param delay how many input gradients the weight gradients stay behind
   */
  static long[] split(
      int ranks, int rank, int chunks, int microBatches, int group, int ahead, int delay) {
    var writer = new InterleavedProgram(ranks, rank, chunks, microBatches, group);
    writer.program = new long[Math.multiplyExact(3 * chunks, microBatches)];
    writer.write(ahead, Pass.BACKWARD_INPUT, delay);
    return writer.program;
  }

  private InterleavedOrder order(Pass pass) {
    return new InterleavedOrder(pass, ranks, rank, chunks, microBatches, group);
  }

  private void write(int ahead, Pass backwardPass, int delay) {
    InterleavedOrder forward = order(Pass.FORWARD);
    InterleavedOrder backward = order(backwardPass);
    InterleavedOrder weight = order(Pass.BACKWARD_WEIGHT);
    boolean split = backwardPass == Pass.BACKWARD_INPUT;
    for (int place = 0; place < ahead; place++) {
      take(forward);
    }
    for (int place = 0; backward.hasNext(); place++) {
      take(forward);
      take(backward);
      if (split && place >= delay) {
        take(weight);
      }
    }
    while (split && weight.hasNext()) {
      take(weight);
    }
  }

  private void take(InterleavedOrder order) {
    if (order.hasNext()) {
      long op = order.next();
      if (op != InterleavedOrder.GAP) {
        program[size++] = op;
      }
    }
  }
}
