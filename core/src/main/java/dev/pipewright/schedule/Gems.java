package dev.pipewright.schedule;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.units.Check;

/**
 * Two pipelines through the same ranks, from both ends, with one micro-batch at a time each: a
 * forward pass of one direction follows the backward pass of the other, which leaves from the rank
 * where the forward pass enters. A rank holds the activations of one micro-batch, and two stages'
 * parameters.
 *
 * <p>Paper: A. Jain et al., <i>GEMS: GPU-Enabled Memory-Aware Model-Parallelism System for
 * Distributed DNN Training</i>, SC 2020, doi:10.1109/SC41405.2020.00049 (its design MAST), as S. Li
 * and T. Hoefler draw it (Chimera, SC 2021, figure 2) with bubbles of {@code (D−1)/(D+1/2)}.
 *
 * <p>With p ranks, forward passes of one unit and backward passes of two, m micro-batches take
 * {@code 3p + (m−1)(2p+1)}. O(ops).
 */
public final class Gems {
  /** All ranks but one wait for each backward pass. */
  public static final Bubble BUBBLE =
      new Bubble(
          "m(p − 1)(B + W)", Bubble.Holds.ALWAYS, (n, t) -> n.m() * (n.p() - 1) * (t.b() + t.w()));

  private Gems() {}

  /**
   * Stages of the way back are counted on: see {@link Placement#bothWays}.
   *
   * @param microBatches of both directions, half of them each
   */
  public static Schedule of(int ranks, int microBatches) {
    Check.that(ranks >= 1, "gems has ranks: ranks=%d", ranks);
    Check.that(
        microBatches >= 2 && microBatches % 2 == 0,
        "gems has as many micro-batches in both directions: micro_batches=%d is odd; take %d",
        microBatches,
        Math.max(microBatches, 1) + 1L);
    long[][] programs = new long[ranks][];
    for (int rank = 0; rank < ranks; rank++) {
      Program program = new Program(2 * microBatches);
      for (int i = 0; i < microBatches; i++) {
        int stage = i % 2 == 0 ? rank : 2 * ranks - 1 - rank;
        program.add(Pass.FORWARD, stage, i / 2).add(Pass.BACKWARD, stage, i / 2);
      }
      programs[rank] = program.packed();
    }
    return new Schedule("gems", Placement.bothWays(ranks), microBatches / 2, programs);
  }
}
