package dev.pipewright.schedule.periodic;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalDouble;

/**
 * The pattern of one batch per period in which every stage holds the fewest activations, one stage
 * per rank.
 *
 * <p>Paper: O. Beaumont et al., <i>Pipelined Model Parallelism</i>, Euro-Par 2021, §5.1, algorithm
 * 1. From the last stage on, stages form groups as long as their passes, U, fit into the period T.
 * In a group a batch goes forward without a pause, and behind it an earlier batch goes back without
 * a pause: the equal shift pattern. Forward passes go from group to group without a pause either. A
 * stage of group g, counted from the last, holds g activations (theorem 3: no pattern of one batch
 * holds fewer, at any stage).
 *
 * <p>O(stages), and O(stages² · log stages) for the best period. Sums are compared as they are
 * rounded.
 */
public final class OneForwardOneBackwardStar {
  private OneForwardOneBackwardStar() {}

  /**
   * The pattern for a period.
   *
   * @param period at least the passes of the slowest stage
   */
  public static Pattern of(List<StageLoad> stages, double period) {
    double[][] starts = starts(stages, period);
    List<RepeatedOp> ops = new ArrayList<>(2 * stages.size());
    for (int stage = 0; stage < stages.size(); stage++) {
      ops.add(RepeatedOp.at(Pass.FORWARD, stage, 0, starts[0][stage], period, 1));
      ops.add(RepeatedOp.at(Pass.BACKWARD, stage, 0, starts[1][stage], period, 1));
    }
    return Pattern.of(Placement.straight(stages.size()), stages, period, 1, ops);
  }

  /** The group of each stage, counted from 1 at the last stage: its concurrent activations. */
  public static int[] groups(List<StageLoad> stages, double period) {
    Check.that(!stages.isEmpty(), "a pipeline has stages: stages=%d", stages.size());
    double slowest = slowest(stages);
    Check.that(
        period >= slowest,
        "the period must hold every stage's passes: period=%s, slowest_stage=%s",
        period,
        slowest);
    int[] groups = new int[stages.size()];
    int group = 1;
    double seconds = 0;
    for (int stage = stages.size() - 1; stage >= 0; stage--) {
      seconds += stages.get(stage).seconds();
      if (seconds > period) {
        group++;
        seconds = stages.get(stage).seconds();
      }
      groups[stage] = group;
    }
    return groups;
  }

  /**
   * The shortest period of any pattern of one batch whose stages fit into memory: a search among
   * the sums of consecutive stages' passes, where alone the groups change. Longer periods never
   * need more memory.
   *
   * @param capacityBytes by stage
   * @return empty where a stage does not even fit with one batch at a time
   */
  public static OptionalDouble bestPeriod(List<StageLoad> stages, double... capacityBytes) {
    checkCapacities(stages, capacityBytes);
    double[] periods = periods(stages);
    int low = 0;
    int high = periods.length; // the first that fits is in low..high
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (fits(stages, groups(stages, periods[middle]), capacityBytes)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low < periods.length ? OptionalDouble.of(periods[low]) : OptionalDouble.empty();
  }

  /** When batch 0 starts its forward (0) and backward (1) pass at each stage. */
  static double[][] starts(List<StageLoad> stages, double period) {
    int[] groups = groups(stages, period);
    double[][] starts = new double[2][stages.size()];
    double[] turn = new double[stages.size() + 1]; // by group: when its forward passes end
    double now = 0;
    for (int stage = 0; stage < stages.size(); stage++) {
      starts[0][stage] = now;
      now += stages.get(stage).forwardSeconds();
      turn[groups[stage]] = now;
    }
    for (int stage = stages.size() - 1; stage >= 0; stage--) {
      int group = groups[stage]; // goes back behind the batch group − 1 later, that goes forward
      starts[1][stage] = turn[group] + (group - 1) * period;
      turn[group] += stages.get(stage).backwardSeconds();
    }
    return starts;
  }

  /** All sums of consecutive stages' passes that hold the slowest stage, ascending. */
  static double[] periods(List<StageLoad> stages) {
    int count = stages.size();
    double slowest = slowest(stages);
    double[] sums = new double[count * (count + 1) / 2];
    int size = 0;
    for (int last = count - 1; last >= 0; last--) {
      double seconds = 0;
      for (int stage = last; stage >= 0; stage--) { // as groups are summed
        seconds += stages.get(stage).seconds();
        if (seconds >= slowest) {
          sums[size++] = seconds;
        }
      }
    }
    Arrays.sort(sums, 0, size);
    return distinct(sums, size);
  }

  private static double[] distinct(double[] sorted, int size) {
    int distinct = 0;
    for (int i = 0; i < size; i++) {
      if (i == 0 || sorted[i] > sorted[i - 1]) {
        sorted[distinct++] = sorted[i];
      }
    }
    return Arrays.copyOf(sorted, distinct);
  }

  static double slowest(List<StageLoad> stages) {
    double slowest = 0;
    for (StageLoad stage : stages) {
      slowest = Math.max(slowest, stage.seconds());
    }
    return slowest;
  }

  static void checkCapacities(List<StageLoad> stages, double[] capacityBytes) {
    Check.that(
        capacityBytes.length == stages.size(),
        "one capacity per stage: capacities=%d, stages=%d",
        capacityBytes.length,
        stages.size());
  }

  static boolean fits(List<StageLoad> stages, int[] held, double[] capacityBytes) {
    for (int stage = 0; stage < held.length; stage++) {
      StageLoad load = stages.get(stage);
      if (load.stateBytes() + held[stage] * load.activationBytes() > capacityBytes[stage]) {
        return false;
      }
    }
    return true;
  }
}
