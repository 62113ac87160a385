package dev.pipewright.schedule;

import dev.pipewright.units.Check;

/**
 * Two pipelines through the same ranks, from both ends, merged so that one fills the other's idle
 * slots. Every rank holds two stages' parameters.
 *
 * <p>Paper: S. Li, T. Hoefler, <i>Chimera: Efficiently Training Large-Scale Neural Networks with
 * Bidirectional Pipelines</i>, SC 2021, doi:10.1145/3458817.3476145, §3.1 (the unit of D
 * micro-batches on D workers) and §3.5 (more units, by direct concatenation). Its D is our {@code
 * ranks}, its N our {@code microBatches}.
 *
 * <p>Where forward and backward passes take one slot each, a step takes {@code 2 · microBatches +
 * ranks − 2} slots. Where backward passes take twice as long as forward ones, each unit but the
 * first costs {@code ranks − 2} forward passes more than its work, so that 1F1B wins with many
 * micro-batches. O(ops). Departs: neither more than two pipelines nor the paper's cure for that,
 * forward doubling and backward halving.
 */
public final class Chimera {
  /** Each unit of p micro-batches waits where its backward passes are longer than forward ones. */
  public static final Bubble BUBBLE =
      new Bubble(
          "(p − 2)(F + m/p · (B + W − F))",
          Bubble.Holds.MULTIPLES_OF_RANKS,
          (n, t) -> (n.p() - 2) * (t.f() + n.units() * t.longerBackward()));

  private Chimera() {}

  /**
   * Stages of the way back are counted on: see {@link Placement#bothWays}.
   *
   * @param ranks even
   * @param microBatches of both directions, half of them each; a multiple of {@code ranks}
   */
  public static Schedule of(int ranks, int microBatches) {
    Check.that(
        ranks >= 2 && ranks % 2 == 0,
        "chimera needs an even number of ranks, since they mirror each other: ranks=%d;"
            + " hanayo works with any",
        ranks);
    Check.that(
        microBatches >= ranks && microBatches % ranks == 0,
        "chimera runs as many micro-batches as ranks at a time: micro_batches=%d is no multiple of"
            + " ranks=%d; take %d, or hanayo, which works with any number",
        microBatches,
        ranks,
        (Math.max(microBatches, 1) + ranks - 1L) / ranks * ranks);
    long[][] programs = new long[ranks][];
    for (int rank = 0; rank < ranks; rank++) {
      int back = 2 * ranks - 1 - rank;
      boolean upper = rank < ranks / 2;
      programs[rank] =
          WaveProgram.of(
              upper ? rank : ranks - 1 - rank,
              ranks / 2,
              upper ? new int[] {rank, back} : new int[] {back, rank},
              microBatches / 2);
    }
    return new Schedule("chimera", Placement.bothWays(ranks), microBatches / 2, programs);
  }
}
