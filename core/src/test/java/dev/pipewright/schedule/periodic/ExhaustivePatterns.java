package dev.pipewright.schedule.periodic;

import java.util.Arrays;
import java.util.List;

/**
 * The referee: all patterns of one batch whose ops take and start at whole seconds, one stage per
 * rank. Whole starts suffice for whole durations and a whole period: for fixed orders and shifts
 * the rest is a system of differences.
 *
 * <p>Shifts follow from starts: each op waits the least for the one before it in the chain. Waits
 * along the chain are independent of each other once the starts are fixed, so no shift does better.
 */
final class ExhaustivePatterns {
  private final int[] seconds; // along the chain: forward passes, then backward passes back
  private final int period;
  private final int[] starts;
  private final int[] fewest; // by stage, over all patterns
  private final int[] limits; // by stage
  private boolean allowed; // whether a pattern keeps within the limits

  private ExhaustivePatterns(List<StageLoad> stages, int period, int[] limits) {
    this.limits = limits;
    int count = stages.size();
    seconds = new int[2 * count];
    for (int stage = 0; stage < count; stage++) {
      seconds[stage] = (int) stages.get(stage).forwardSeconds();
      seconds[2 * count - 1 - stage] = (int) stages.get(stage).backwardSeconds();
    }
    this.period = period;
    starts = new int[2 * count];
    fewest = new int[count];
    Arrays.fill(fewest, Integer.MAX_VALUE);
  }

  /** For each stage the fewest concurrent activations of any pattern; no stage need agree. */
  static int[] fewestActivations(List<StageLoad> stages, int period) {
    ExhaustivePatterns search = new ExhaustivePatterns(stages, period, new int[stages.size()]);
    search.place(1);
    return search.fewest;
  }

  /** Whether one pattern keeps every stage within its number of activations. */
  static boolean exists(List<StageLoad> stages, int period, int[] limits) {
    ExhaustivePatterns search = new ExhaustivePatterns(stages, period, limits);
    search.place(1);
    return search.allowed;
  }

  /** Tries all starts from a place of the chain on; the first op starts at 0. */
  private void place(int link) {
    if (link == starts.length) {
      count();
      return;
    }
    int forward = starts.length - 1 - link;
    for (int start = 0; start < period; start++) {
      starts[link] = start;
      if (link < forward || apart(forward, link)) {
        place(link + 1);
      }
    }
    starts[link] = 0;
  }

  /** Whether a stage's two passes never overlap. */
  private boolean apart(int forward, int backward) {
    int gap = Math.floorMod(starts[backward] - starts[forward], period);
    return gap >= seconds[forward] && period - gap >= seconds[backward];
  }

  private void count() {
    int stages = fewest.length;
    int[] at = new int[starts.length]; // when batch 0 is there
    at[0] = starts[0];
    for (int link = 1; link < at.length; link++) {
      int ready = at[link - 1] + seconds[link - 1];
      at[link] = ready + Math.floorMod(starts[link] - ready, period);
    }
    int[] held = new int[stages];
    boolean within = true;
    for (int stage = 0; stage < stages; stage++) {
      int end = at[at.length - 1 - stage] + seconds[at.length - 1 - stage];
      while (end > at[stage] + held[stage] * period) { // that many batches later it still is there
        held[stage]++;
      }
      fewest[stage] = Math.min(fewest[stage], held[stage]);
      within &= held[stage] <= limits[stage];
    }
    allowed |= within;
  }
}
