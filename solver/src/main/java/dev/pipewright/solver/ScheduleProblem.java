package dev.pipewright.solver;

import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.units.Check;
import java.util.Arrays;

/**
 * A training step to be put in order: every stage's forward and backward pass of every micro-batch
 * once.
 *
 * @param microBatches of each chain
 * @param times forward passes, both gradients and transfers; recomputation and a step's own ops are
 *     left out
 * @param split whether backward passes run in halves
 * @param cap the most activations of a stage and a micro-batch that each rank may hold at once:
 *     from the start of the forward pass to the end of the weights' gradient, or of the whole
 *     backward pass
 */
public record ScheduleProblem(
    Placement placement, int microBatches, OpTimes times, boolean split, int[] cap, Goal goal) {
  /** What is to be as short as possible. */
  public enum Goal {
    /** The time from the first op to the last. */
    MAKESPAN,
    /**
     * The longest time from a rank's first op to its last, every op as early as its rank's order
     * allows: what zero-bubble papers count, since the next step may fill the rest. Of one stage
     * per rank only.
     */
    SPAN
  }

  public ScheduleProblem {
    Check.that(microBatches >= 1, "a schedule has micro-batches: micro_batches=%d", microBatches);
    Check.that(
        times.stages() == placement.stages(),
        "one time per stage: times=%d, stages=%d",
        times.stages(),
        placement.stages());
    Check.that(
        cap.length == placement.ranks(),
        "one cap per rank: caps=%d, ranks=%d",
        cap.length,
        placement.ranks());
    for (int most : cap) {
      Check.that(most >= 1, "a rank must hold at least one activation: cap=%d", most);
    }
    Check.that(
        goal == Goal.MAKESPAN || placement.straight(),
        "the span is searched with one stage per rank: stages=%d, ranks=%d",
        placement.stages(),
        placement.ranks());
  }

  /** One stage per rank, backward passes in halves, memory for all; the makespan. */
  public static ScheduleProblem of(OpTimes times, int microBatches) {
    return on(Placement.straight(times.stages()), times, microBatches);
  }

  /** Any placement, backward passes in halves, memory for all; the makespan. */
  public static ScheduleProblem on(Placement placement, OpTimes times, int microBatches) {
    int[] cap = new int[placement.ranks()];
    Arrays.fill(cap, Integer.MAX_VALUE);
    return new ScheduleProblem(placement, microBatches, times, true, cap, Goal.MAKESPAN);
  }

  /** The same with whole backward passes. */
  public ScheduleProblem whole() {
    return new ScheduleProblem(placement, microBatches, times, false, cap, goal);
  }

  /** The same with so many activations on every rank. */
  public ScheduleProblem capped(int most) {
    int[] caps = new int[placement.ranks()];
    Arrays.fill(caps, most);
    return new ScheduleProblem(placement, microBatches, times, split, caps, goal);
  }

  /** The same for another goal. */
  public ScheduleProblem with(Goal other) {
    return new ScheduleProblem(placement, microBatches, times, split, cap, other);
  }

  /** Activations that a rank holds when it holds all. */
  int all(int rank) {
    int stages = 0;
    for (int stage = 0; stage < placement.stages(); stage++) {
      stages += placement.rankOf(stage) == rank ? 1 : 0;
    }
    return stages * microBatches;
  }

  /** Whether a transfer lies between a stage and the next of its chain. */
  boolean cut(int stage) {
    return placement.rankOf(stage) != placement.rankOf(stage + 1);
  }
}
