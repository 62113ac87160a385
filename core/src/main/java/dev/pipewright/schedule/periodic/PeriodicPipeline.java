package dev.pipewright.schedule.periodic;

import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.units.Check;
import java.util.Arrays;
import java.util.List;

/**
 * The first batches of the fastest pattern in which no stage holds more activations than a cap, one
 * stage per rank: of {@link OneForwardOneBackwardStar}, or of {@link KPeriodic}, which drops every
 * so many-th batch.
 *
 * <p>Transfers are stages of their own while the pattern is made (§3.1) and left out of the
 * schedule, where they follow from the order. Exact for both families, with k from 1 to one less
 * than there are stages: dropping fewer batches saves nothing. O(stages² · log stages).
 */
public final class PeriodicPipeline {
  private PeriodicPipeline() {}

  /**
   * One batch per period.
   *
   * @param secondsOfCut of one transfer through each cut; activations and gradients take as long
   * @param cap activations that a stage may hold
   */
  public static Schedule star(List<StageLoad> stages, double[] secondsOfCut, int cap, int batches) {
    List<StageLoad> all = StageLoad.withTransfers(unit(stages), secondsOfCut);
    double period = OneForwardOneBackwardStar.bestPeriod(all, capacity(all, cap)).orElseThrow();
    Pattern pattern = OneForwardOneBackwardStar.of(all, period);
    return withoutLinks("1f1b-star", pattern, batches);
  }

  /** The same with k batches of every k + 1, the k that makes a batch take the least time. */
  public static Schedule dropping(
      List<StageLoad> stages, double[] secondsOfCut, int cap, int batches) {
    List<StageLoad> all = StageLoad.withTransfers(unit(stages), secondsOfCut);
    double[] capacity = capacity(all, cap);
    double[] periods = OneForwardOneBackwardStar.periods(all);
    int best = 1;
    double bestPeriod = bestPeriod(all, capacity, periods, best);
    for (int k = 2; k < stages.size(); k++) {
      double period = bestPeriod(all, capacity, periods, k);
      if (period * (1 + 1.0 / k) < bestPeriod * (1 + 1.0 / best)) {
        best = k;
        bestPeriod = period;
      }
    }
    Pattern pattern = KPeriodic.of(all, bestPeriod, best);
    return withoutLinks("k-periodic", pattern, batches);
  }

  /** The stages' times, with one activation each and no other memory. */
  private static List<StageLoad> unit(List<StageLoad> stages) {
    return stages.stream()
        .map(stage -> new StageLoad(stage.forwardSeconds(), stage.backwardSeconds(), 0, 1))
        .toList();
  }

  private static double[] capacity(List<StageLoad> stages, int cap) {
    Check.that(cap >= 1, "a stage holds an activation at least: cap=%d", cap);
    double[] capacity = new double[stages.size()];
    Arrays.fill(capacity, cap);
    return capacity;
  }

  /** The shortest that fits before batches are dropped; the longest, all stages in a row, does. */
  private static double bestPeriod(
      List<StageLoad> stages, double[] capacity, double[] periods, int k) {
    int low = 0;
    int high = periods.length - 1; // the first that fits is in low..high
    while (low < high) {
      int middle = (low + high) >>> 1;
      int[] held = KPeriodic.held(stages, periods[middle], k);
      if (OneForwardOneBackwardStar.fits(stages, held, capacity)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return periods[low];
  }

  /** Every second rank's program, its stages counted on without gaps. */
  private static Schedule withoutLinks(String name, Pattern pattern, int batches) {
    Check.that(batches >= 1, "a schedule has batches: batches=%d", batches);
    long[][] programs = new long[(pattern.placement().ranks() + 1) / 2][];
    for (int rank = 0; rank < programs.length; rank++) {
      programs[rank] = Unrolled.program(pattern, 2 * rank, batches, 2);
    }
    return new Schedule(name, Placement.straight(programs.length), batches, programs);
  }
}
