package dev.pipewright.schedule;

/**
 * The handcrafted zero-bubble schedule with the memory of 1F1B: rank {@code r} of p runs {@code
 * p−r} forward passes ahead and puts weight gradients off by r input gradients, so all ranks hold p
 * activations and idle a third as long as in 1F1B.
 *
 * <p>Paper: P. Qi et al., <i>Zero Bubble Pipeline Parallelism</i>, ICLR 2024, §2.1. With equal
 * passes of one unit and m ≥ p micro-batches a step takes {@code 3m+p−1}. O(ops).
 *
 * <p>Departs: every backward pass is split, also where nothing comes between its halves.
 */
public final class ZeroBubbleH1 {
  /** §2.3 of the paper. */
  public static final Bubble BUBBLE =
      new Bubble(
          "(p − 1)(F + B − W)",
          Bubble.Holds.FROM_RANKS,
          (n, t) -> (n.p() - 1) * (t.f() + t.b() - t.w()));

  private ZeroBubbleH1() {}

  public static Schedule of(int ranks, int microBatches) {
    DelayedWeights.check(ranks, microBatches);
    long[][] programs = new long[ranks][];
    for (int rank = 0; rank < ranks; rank++) {
      programs[rank] = DelayedWeights.program(rank, microBatches, ranks - rank, rank);
    }
    return new Schedule("zb-h1", ranks, microBatches, programs);
  }
}
