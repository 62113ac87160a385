package dev.pipewright.schedule;

/**
 * The handcrafted zero-bubble schedule with twice the memory of 1F1B: rank {@code r} of p runs
 * {@code 2(p−r)−1} forward passes ahead and puts weight gradients off by 2r input gradients, so no
 * rank waits between its first pass and its last.
 *
 * <p>Paper: P. Qi et al., <i>Zero Bubble Pipeline Parallelism</i>, ICLR 2024, §2.2, figure 3. With
 * equal passes of one unit and m ≥ 2p−1 micro-batches every rank is busy for {@code 3m} on end and
 * holds 2p−1 activations. Ranks end one after the other: the paper lets them do without a
 * synchronised update (§4), which is outside the order. O(ops).
 */
public final class ZeroBubbleH2 {
  /** §2.3 of the paper. */
  public static final Bubble BUBBLE =
      new Bubble(
          "(p − 1)(F + B − 2W)",
          Bubble.Holds.FROM_TWICE_THE_RANKS,
          (n, t) -> (n.p() - 1) * (t.f() + t.b() - 2 * t.w()));

  private ZeroBubbleH2() {}

  public static Schedule of(int ranks, int microBatches) {
    DelayedWeights.check(ranks, microBatches);
    long[][] programs = new long[ranks][];
    for (int rank = 0; rank < ranks; rank++) {
      programs[rank] = DelayedWeights.program(rank, microBatches, 2 * (ranks - rank) - 1, 2 * rank);
    }
    return new Schedule("zb-h2", ranks, microBatches, programs);
  }
}
