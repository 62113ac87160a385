package dev.pipewright.schedule;

import dev.pipewright.units.Check;

/**
 * {@link DualPipe} cut in half: its ranks mirror each other, so one half of them, each with the
 * stage where micro-batches enter as its first and the one where they leave as its last, does the
 * same with one copy of the parameters.
 *
 * <p>Source: Sea AI Lab, <i>Cut-in-half: DualPipe could be better without the Dual</i>, 2025, and
 * the DeepSeek-AI DualPipe repository, which took it up. Its programs are those of DualPipe on
 * twice the ranks, the two directions made one chain.
 *
 * <p>With F = B = W = ½ for each of a rank's two stages a step takes {@code 3 · microBatches +
 * ranks − 1}; a rank holds {@code 2 · ranks + 1} activations of its half stages at most. O(ops).
 */
public final class DualPipeV {
  /** Its name on the command line and in files. */
  public static final String NAME = "dualpipev";

  /** That of DualPipe on twice the ranks, each with half the work. */
  public static final Bubble BUBBLE =
      new Bubble(
          "(p − 1)(F + 2B − W)/2",
          Bubble.Holds.EQUAL_HALVES,
          (n, t) -> (n.p() - 1) * (t.f() + 2 * t.b() - t.w()) / 2);

  private DualPipeV() {}

  /**
   * Two stages on each rank: see {@link Placement#waves}.
   *
   * @param microBatches two per rank or more
   */
  public static Schedule of(int ranks, int microBatches) {
    Check.that(ranks >= 1, "a schedule has ranks: ranks=%d", ranks);
    Check.that(
        microBatches >= 2L * ranks,
        "dualpipev needs 2 micro-batches per rank to fill: micro_batches=%d, ranks=%d; take %d or"
            + " more, or 1f1b, which works with any number",
        microBatches,
        ranks,
        2L * ranks);
    long[][] programs = new long[ranks][];
    for (int rank = 0; rank < ranks; rank++) {
      programs[rank] = DualPipeProgram.of(rank, ranks, rank, 2 * ranks - 1 - rank, microBatches);
    }
    return new Schedule(NAME, Placement.waves(ranks, 2), microBatches, programs);
  }
}
