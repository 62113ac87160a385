package dev.pipewright.schedule.periodic;

import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.units.Check;
import java.util.ArrayList;
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
    Check.that(batches >= 1, "a schedule has batches: batches=%d", batches);
    List<StageLoad> all = StageLoad.withTransfers(unit(stages), secondsOfCut);
    double period = OneForwardOneBackwardStar.bestPeriod(all, capacity(all, cap)).orElseThrow();
    return schedule("1f1b-star", batches, programs(all, period, batches));
  }

  /** The same with k batches of every k + 1, the k that makes a batch take the least time. */
  public static Schedule dropping(
      List<StageLoad> stages, double[] secondsOfCut, int cap, int batches) {
    Check.that(batches >= 1, "a schedule has batches: batches=%d", batches);
    List<StageLoad> all = StageLoad.withTransfers(unit(stages), secondsOfCut);
    double[] capacity = capacity(all, cap);
    double[] periods = OneForwardOneBackwardStar.periods(all);
    int best = 1;
    int fitting = firstFitting(all, capacity, periods, 0, best);
    double bestPeriod = periods[fitting];
    for (int k = 2; k < stages.size(); k++) { // drops fewer, so that shorter periods fit no more
      fitting = firstFitting(all, capacity, periods, fitting, k);
      double period = periods[fitting];
      if (period * (1 + 1.0 / k) < bestPeriod * (1 + 1.0 / best)) {
        best = k;
        bestPeriod = period;
      }
    }
    return schedule("k-periodic", batches, dropping(all, bestPeriod, best, batches));
  }

  /** The stages' times, with one activation each and no other memory. */
  private static List<StageLoad> unit(List<StageLoad> stages) {
    List<StageLoad> unit = new ArrayList<>();
    for (StageLoad stage : stages) {
      unit.add(new StageLoad(stage.forwardSeconds(), stage.backwardSeconds(), 0, 1));
    }
    return unit;
  }

  private static double[] capacity(List<StageLoad> stages, int cap) {
    Check.that(cap >= 1, "a stage holds an activation at least: cap=%d", cap);
    double[] capacity = new double[stages.size()];
    Arrays.fill(capacity, cap);
    return capacity;
  }

  /** The shortest that fits, {@code low} or longer; the longest, all stages in a row, does. */
  private static int firstFitting(
      List<StageLoad> stages, double[] capacity, double[] periods, int low, int k) {
    int first = low;
    int high = periods.length - 1;
    int middle = low; // the likeliest
    while (first < high) {
      int[] held = KPeriodic.held(stages, periods[middle], k);
      if (OneForwardOneBackwardStar.fits(stages, held, capacity)) {
        high = middle;
      } else {
        first = middle + 1;
      }
      middle = (first + high) >>> 1;
    }
    return first;
  }

  /** The first batches of one pattern: every second rank's, its stages counted on without gaps. */
  private static long[][] programs(List<StageLoad> all, double period, int batches) {
    Pattern pattern = OneForwardOneBackwardStar.of(all, period);
    long[][] programs = new long[(all.size() + 1) / 2][];
    for (int rank = 0; rank < programs.length; rank++) {
      programs[rank] = Unrolled.program(pattern, 2 * rank, batches, 2);
    }
    return programs;
  }

  /**
   * {@link KPeriodic}, unrolled: more batches of the pattern of one, some of which are dropped. It
   * has k times as many ops, which would have to be put in order.
   */
  private static long[][] dropping(List<StageLoad> all, double once, int k, int batches) {
    int first = firstBatch(OneForwardOneBackwardStar.groups(all, once)[0], k);
    int last = first + batches - 1; // before it and behind it, one is dropped for every k kept
    long[][] programs = programs(all, once, last + last / k - first + 1);
    for (int rank = 0; rank < programs.length; rank++) {
      programs[rank] = drop(programs[rank], first, k, batches);
    }
    return programs;
  }

  /**
   * Which of k + 1 batches, the last of them dropped, is batch 0 of the pattern: the first to go
   * back at the first stage in a period. Batch 0 does so {@code group − 1} batches later.
   */
  private static int firstBatch(int group, int k) {
    int first = Math.floorMod(1 - group, k + 1);
    return first < k ? first : 0;
  }

  /**
   * Without the last of every k + 1 batches; those behind it are counted on without gaps.
   *
   * @param first which of k + 1 the program's batch 0 is
   */
  private static long[] drop(long[] program, int first, int k, int batches) {
    long[] kept = new long[2 * batches];
    int size = 0;
    for (long op : program) {
      int batch = first + Schedule.microBatch(op);
      if (batch % (k + 1) < k) {
        kept[size++] = op - batch / (k + 1); // the batch is the lowest part
      }
    }
    return kept;
  }

  private static Schedule schedule(String name, int batches, long[][] programs) {
    return new Schedule(name, Placement.straight(programs.length), batches, programs);
  }
}
