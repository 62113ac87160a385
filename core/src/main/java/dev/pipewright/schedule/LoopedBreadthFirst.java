package dev.pipewright.schedule;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.units.Check;

/**
 * Breadth first: a rank takes all micro-batches through one of its stages before it turns to the
 * next, and all backward passes follow all forward passes. Activations of all micro-batches are
 * alive at once; a stage's weights are needed, and its gradients complete, once only.
 *
 * <p>Paper: J. Lamy-Poirier, <i>Breadth-First Pipeline Parallelism</i>, MLSys 2023,
 * arXiv:2211.05953. p ranks, v chunks on each, stage {@code i} on rank i mod p. With m ≥ p
 * micro-batches a step takes as long as with {@link Interleaved}. O(ops).
 *
 * <p>Backward passes run from the last micro-batch to the first, as PyTorch's looped BFS does.
 */
public final class LoopedBreadthFirst {
  /** Its name on the command line and in files. */
  public static final String NAME = "looped-bfs";

  /** That of interleaved 1F1B. */
  public static final Bubble BUBBLE = Bubble.ofChunks(Bubble.Holds.FROM_RANKS);

  private LoopedBreadthFirst() {}

  public static Schedule of(int ranks, int chunks, int microBatches) {
    Check.that(
        ranks >= 1 && chunks >= 1 && microBatches >= 1,
        "a looped schedule has ranks, chunks and micro-batches: ranks=%d, chunks=%d, micro_batches=%d",
        ranks,
        chunks,
        microBatches);
    long[][] programs = new long[ranks][];
    for (int rank = 0; rank < ranks; rank++) {
      programs[rank] = program(ranks, rank, chunks, microBatches);
    }
    Placement placement = Placement.looped(ranks, chunks);
    return new Schedule(NAME, placement, microBatches, programs);
  }

  private static long[] program(int ranks, int rank, int chunks, int microBatches) {
    int half = Math.multiplyExact(chunks, microBatches);
    long[] program = new long[Math.multiplyExact(2, half)];
    int at = 0;
    for (int chunk = 0; chunk < chunks; chunk++) {
      int stage = chunk * ranks + rank;
      for (int i = 0; i < microBatches; i++) {
        program[at] = Schedule.pack(Pass.FORWARD, stage, i);
        program[2 * half - 1 - at] = Schedule.pack(Pass.BACKWARD, stage, i);
        at++;
      }
    }
    return program;
  }
}
