package dev.pipewright.schedule.periodic;

import java.util.List;
import java.util.Optional;

/**
 * The fastest pattern that fits into memory, of those that take one batch per period and those that
 * drop every so many-th.
 *
 * <p>Paper: O. Beaumont et al., <i>Pipelined Model Parallelism</i>, Euro-Par 2021, §5. Exact among
 * {@link OneForwardOneBackwardStar} and {@link KPeriodic} of any period: only at sums of
 * consecutive stages' passes does memory change. Among all periodic patterns the problem stays open
 * (theorem 2 has it strongly NP-complete for ranks with several stages). O(stages⁴), ties go to
 * fewer batches.
 */
public final class BestPattern {
  private BestPattern() {}

  /**
   * The pattern, one stage per rank.
   *
   * @param capacityBytes by stage
   * @return empty where a stage does not even fit with one batch at a time
   */
  public static Optional<Pattern> of(List<StageLoad> stages, double... capacityBytes) {
    OneForwardOneBackwardStar.checkCapacities(stages, capacityBytes);
    double best = Double.POSITIVE_INFINITY;
    double bestOnce = 0;
    int bestBatches = 0; // 0: none is dropped
    double[] periods = OneForwardOneBackwardStar.periods(stages);
    for (int batches = 0; batches < stages.size(); batches++) {
      for (double once : periods) {
        double normalised = batches == 0 ? once : once * (1 + 1.0 / batches);
        if (normalised < best && fits(stages, once, batches, capacityBytes)) {
          best = normalised;
          bestOnce = once;
          bestBatches = batches;
        }
      }
    }
    if (best == Double.POSITIVE_INFINITY) {
      return Optional.empty();
    }
    return Optional.of(
        bestBatches == 0
            ? OneForwardOneBackwardStar.of(stages, bestOnce)
            : KPeriodic.of(stages, bestOnce, bestBatches));
  }

  private static boolean fits(
      List<StageLoad> stages, double once, int batches, double[] capacityBytes) {
    int[] held =
        batches == 0
            ? OneForwardOneBackwardStar.groups(stages, once)
            : KPeriodic.held(stages, once, batches);
    return OneForwardOneBackwardStar.fits(stages, held, capacityBytes);
  }
}
