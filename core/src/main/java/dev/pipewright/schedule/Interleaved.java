package dev.pipewright.schedule;

import dev.pipewright.units.Check;

/**
 * Interleaved 1F1B: each rank runs {@code v} stages (chunks), stage {@code i} on rank i mod p, so a
 * micro-batch goes around the ranks {@code v} times and filling the pipeline takes a {@code v}-th
 * of the time; transfers are {@code v} times as many.
 *
 * <p>Paper: D. Narayanan et al., <i>Efficient Large-Scale Language Model Training on GPU Clusters
 * Using Megatron-LM</i>, SC'21, §2.2: p ranks, m micro-batches. With {@code F} forward and {@code
 * B} backward seconds of all chunks of a rank, a step takes {@code m(F+B) + (p−1)(F+B)/v} where
 * equal groups of p micro-batches or more make up m. O(ops).
 *
 * <p>Departs: the paper asks that p divides m. Otherwise groups are larger than p, as PyTorch has
 * them, and where they do not make up m the last one has gaps, which cost time but need no other
 * order.
 */
public final class Interleaved {
  /** Its name on the command line and in files. */
  public static final String NAME = "interleaved";

  /** §2.2.2 of the paper. */
  public static final Bubble BUBBLE = Bubble.ofChunks(Bubble.Holds.MULTIPLES_OF_RANKS);

  private Interleaved() {}

  /** With whole backward passes. */
  public static Schedule of(int ranks, int chunks, int microBatches) {
    int group = InterleavedProgram.group(ranks, microBatches);
    InterleavedProgram.check(ranks, chunks, microBatches, group);
    long[][] programs = new long[ranks][];
    for (int rank = 0; rank < ranks; rank++) {
      int ahead = 2 * (ranks - 1 - rank) + (chunks - 1) * group;
      programs[rank] = InterleavedProgram.whole(ranks, rank, chunks, microBatches, group, ahead);
    }
    Placement placement = Placement.looped(ranks, chunks);
    return new Schedule(NAME, placement, microBatches, programs);
  }

  /**
   * Groups of any size, with split backward passes, both halves in a row: a rank sends the input's
   * gradient before it computes the weights', so a warm-up of {@code p−1−rank + (v−1)·group}
   * forward passes is enough. Rank {@code r} holds {@code p−r + (v−1)·group} activations of a chunk
   * at most. Groups smaller than p save memory and idle more; those smaller than half of p make
   * ranks wait for each other for ever.
   *
   * <p>Paper: X. Wan et al., <i>PipeOffload: Improving Scalability of Pipeline Parallelism with
   * Memory Optimization</i>, arXiv:2503.01328: the generalized interleaved schedule.
   */
  public static Schedule grouped(int ranks, int chunks, int microBatches, int group) {
    InterleavedProgram.check(ranks, chunks, microBatches, group);
    Check.that(
        chunks == 1 || group >= ranks / 2,
        "with groups of fewer micro-batches than half the ranks, ranks wait for each other for ever; take groups of at least %d: ranks=%d, group=%d",
        ranks / 2,
        ranks,
        group);
    long[][] programs = new long[ranks][];
    for (int rank = 0; rank < ranks; rank++) {
      int ahead = ranks - 1 - rank + (chunks - 1) * group;
      programs[rank] = InterleavedProgram.split(ranks, rank, chunks, microBatches, group, ahead, 0);
    }
    Placement placement = Placement.looped(ranks, chunks);
    return new Schedule("interleaved-group" + group, placement, microBatches, programs);
  }
}
