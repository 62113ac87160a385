package dev.pipewright.schedule;

/**
 * Interleaved 1F1B with split backward passes, whose weight gradients rank {@code r} puts off by r
 * input gradients: they fill the places where it would wait.
 *
 * <p>Paper: P. Qi et al., <i>Zero Bubble Pipeline Parallelism</i>, ICLR 2024, §2.1 (the handcrafted
 * ZB-H1), over the stages of D. Narayanan et al., SC'21, §2.2; PyTorch calls it interleaved zero
 * bubble. p ranks, v chunks on each, groups of g micro-batches as in {@link Interleaved}, {@code
 * p−1−r + (v−1)g} forward passes of warm-up on rank r. O(ops).
 */
public final class InterleavedZeroBubble {
  /** Its name on the command line and in files. */
  public static final String NAME = "interleaved-zb";

  /** That of ZB-H1, by passes of a chunk. */
  public static final Bubble BUBBLE =
      new Bubble(
          "(p − 1)(F + B − W)/v",
          Bubble.Holds.MULTIPLES_OF_RANKS,
          (n, t) -> (n.p() - 1) * (t.f() + t.b() - t.w()) / n.v());

  private InterleavedZeroBubble() {}

  public static Schedule of(int ranks, int chunks, int microBatches) {
    int group = InterleavedProgram.group(ranks, microBatches);
    InterleavedProgram.check(ranks, chunks, microBatches, group);
    long[][] programs = new long[ranks][];
    for (int rank = 0; rank < ranks; rank++) {
      int ahead = ranks - 1 - rank + (chunks - 1) * group;
      programs[rank] =
          InterleavedProgram.split(ranks, rank, chunks, microBatches, group, ahead, rank);
    }
    Placement placement = Placement.looped(ranks, chunks);
    return new Schedule(NAME, placement, microBatches, programs);
  }
}
