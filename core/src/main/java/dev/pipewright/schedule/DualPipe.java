package dev.pipewright.schedule;

import dev.pipewright.units.Check;

/**
 * Two pipelines through the same ranks, from both ends: a rank runs a forward pass of one together
 * with a backward pass of the other, so that each hides the other's communication. Every rank holds
 * two stages' parameters.
 *
 * <p>Paper: DeepSeek-AI, <i>DeepSeek-V3 Technical Report</i>, 2024, arXiv:2412.19437, §3.2.1,
 * figure 5 and table 2. Its PP is our {@code ranks}; its 20 micro-batches in figure 5 count both
 * directions, as {@code microBatches} does.
 *
 * <p>With times F, B, W of a forward pass, the input's and the weights' gradient, of which none
 * overlaps, a step of F = B = W = 1 takes {@code 3 · microBatches + 2 · (ranks/2 − 1)}; a rank
 * holds {@code ranks + 1} activations at most. O(ops).
 */
public final class DualPipe {
  /** Table 2 of the report, whose B is our B + W, with pairs that take F + B + W. */
  public static final Bubble BUBBLE =
      new Bubble(
          "(p/2 − 1)(F + 2B − W)",
          Bubble.Holds.EQUAL_HALVES,
          (n, t) -> (n.p() / 2.0 - 1) * (t.f() + 2 * t.b() - t.w()));

  private DualPipe() {}

  /**
   * Stages of the way back are counted on: see {@link Placement#bothWays}.
   *
   * @param ranks even
   * @param microBatches of both directions, half of them each; even, two per rank or more
   */
  public static Schedule of(int ranks, int microBatches) {
    Check.that(
        ranks >= 2 && ranks % 2 == 0,
        "dualpipe needs an even number of ranks, since they mirror each other: ranks=%d;"
            + " dualpipev works with any, from 2 micro-batches per rank on",
        ranks);
    Check.that(
        microBatches % 2 == 0,
        "dualpipe sends half of the micro-batches each way: micro_batches=%d is odd; take %d",
        microBatches,
        microBatches + 1);
    Check.that(
        microBatches >= 2L * ranks,
        "dualpipe needs 2 micro-batches per rank to fill: micro_batches=%d, ranks=%d; take %d or"
            + " more, or 1f1b, which works with any number",
        microBatches,
        ranks,
        2L * ranks);
    long[][] programs = new long[ranks][];
    for (int rank = 0; rank < ranks; rank++) {
      int back = 2 * ranks - 1 - rank;
      boolean upper = rank < ranks / 2;
      programs[rank] =
          DualPipeProgram.of(
              upper ? rank : ranks - 1 - rank,
              ranks / 2,
              upper ? rank : back,
              upper ? back : rank,
              microBatches / 2);
    }
    return new Schedule("dualpipe", Placement.bothWays(ranks), microBatches / 2, programs);
  }
}
