package dev.pipewright.schedule;

import dev.pipewright.units.Check;

/**
 * A pipeline that runs through the ranks there and back, {@code waves} times: what {@link Chimera}
 * gains by two copies of the parameters, with one. More waves, shorter waits, more transfers.
 *
 * <p>Paper: Z. Liu, S. Cheng, H. Zhou, Y. You, <i>Hanayo: Harnessing Wave-like Pipeline Parallelism
 * for Enhanced Large Model Training Efficiency</i>, SC 2023, doi:10.1145/3581784.3607073, §3: one
 * wave is Chimera with the mirrored halves of its two pipelines swapped. Its P is our {@code
 * ranks}, its W our {@code waves}, its B our {@code microBatches}.
 *
 * <p>Where every stage's forward and backward pass takes one slot each, a step of full units takes
 * {@code 4 · waves · microBatches + 2 · (ranks − 1)} slots. Where backward passes take twice as
 * long as forward ones, one unit takes {@code 6 · waves · ranks + 4 · (ranks − 1)} forward passes
 * of a stage, and each further one {@code 2 · (ranks − 1)} more than its work. O(ops). Departs: the
 * order is that of those slots whatever the times; after {@code ranks} micro-batches follows the
 * next unit, as Chimera concatenates them.
 */
public final class Hanayo {
  /** The same waits as Chimera, of passes of a chunk, over the whole wave. */
  public static final Bubble BUBBLE =
      new Bubble(
          "2(p − 1)(F + m/p · (B + W − F))/v",
          Bubble.Holds.MULTIPLES_OF_RANKS,
          (n, t) -> 2.0 * (n.p() - 1) * (t.f() + n.units() * t.longerBackward()) / n.v());

  private Hanayo() {}

  /** {@code 2 · waves} stages on each rank: see {@link Placement#waves}. */
  public static Schedule of(int ranks, int microBatches, int waves) {
    Check.that(ranks >= 1, "a schedule has ranks: ranks=%d", ranks);
    Check.that(waves >= 1, "hanayo runs in waves: waves=%d; take 1 or more", waves);
    Check.that(microBatches >= 1, "a schedule has micro-batches: micro_batches=%d", microBatches);
    Placement placement = Placement.waves(ranks, Math.multiplyExact(2, waves));
    long[][] programs = new long[ranks][];
    for (int rank = 0; rank < ranks; rank++) {
      int[] stages = new int[2 * waves];
      for (int wave = 0; wave < waves; wave++) {
        stages[2 * wave] = 2 * wave * ranks + rank;
        stages[2 * wave + 1] = 2 * (wave + 1) * ranks - 1 - rank;
      }
      programs[rank] = WaveProgram.of(rank, ranks, stages, microBatches);
    }
    return new Schedule("hanayo", placement, microBatches, programs);
  }
}
