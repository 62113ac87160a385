package dev.pipewright.schedule.periodic;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.List;

/**
 * Patterns of k batches that trade throughput for memory: the fastest pattern of one batch,
 * unrolled, without every (k+1)-th batch.
 *
 * <p>Paper: O. Beaumont et al., <i>Pipelined Model Parallelism</i>, Euro-Par 2021, §5.2, theorem 4
 * and figure 7. With the slowest stage's passes U a batch takes (1 + 1/k) · U. Of the g batches
 * that a stage of group g holds in a row, ⌊g / (k+1)⌋ are always missing: it holds g − ⌊g / (k+1)⌋,
 * so k on the first of k + 1 equal stages. Departs: stages need not be equal; the pattern of one
 * batch is {@link OneForwardOneBackwardStar} with period U.
 */
public final class KPeriodic {
  private KPeriodic() {}

  /**
   * The pattern, one stage per rank, made of the fastest of one batch.
   *
   * @param batches kept of every {@code batches + 1}: k
   */
  public static Pattern of(List<StageLoad> stages, int batches) {
    return of(stages, OneForwardOneBackwardStar.slowest(stages), batches);
  }

  /**
   * The pattern made of the {@link OneForwardOneBackwardStar} of another period.
   *
   * @param once the period of one batch, none missing
   * @param batches kept of every {@code batches + 1}: k
   */
  public static Pattern of(List<StageLoad> stages, double once, int batches) {
    Check.that(batches >= 1, "a pattern keeps batches: batches=%d", batches);
    double[][] starts = OneForwardOneBackwardStar.starts(stages, once);
    double period = (batches + 1) * once;
    List<RepeatedOp> ops = new ArrayList<>(2 * stages.size() * batches);
    for (int stage = 0; stage < stages.size(); stage++) {
      for (int batch = 0; batch < batches; batch++) {
        double later = batch * once;
        ops.add(
            RepeatedOp.at(Pass.FORWARD, stage, batch, starts[0][stage] + later, period, batches));
        ops.add(
            RepeatedOp.at(Pass.BACKWARD, stage, batch, starts[1][stage] + later, period, batches));
      }
    }
    return Pattern.of(Placement.straight(stages.size()), stages, period, batches, ops);
  }

  /** The concurrent activations of each stage of that pattern. */
  static int[] held(List<StageLoad> stages, double once, int batches) {
    int[] held = OneForwardOneBackwardStar.groups(stages, once);
    for (int stage = 0; stage < held.length; stage++) {
      held[stage] -= held[stage] / (batches + 1);
    }
    return held;
  }
}
