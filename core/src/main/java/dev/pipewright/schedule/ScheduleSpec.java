package dev.pipewright.schedule;

/**
 * Which schedule the stages of a plan follow. A {@link PipelinePolicy} follows from the number of
 * micro-batches that each stage may hold; any other schedule is a {@link FixedOrder}.
 */
public sealed interface ScheduleSpec permits PipelinePolicy, FixedOrder {
  /** The schedule's name on the command line and in plan files. */
  String scheduleName();

  /** The rank of each of so many stages. */
  Placement placement(int stages);

  /** Micro-batches in flight of every stage, without a memory limit. */
  int[] inFlight(int stages, int microBatches);

  /**
   * Throws {@link IllegalArgumentException} where stages cannot hold so many micro-batches.
   *
   * @param microBatches of a step, of all directions
   * @param inFlight by stage
   */
  void check(int microBatches, int[] inFlight);

  /** Whether the gradients of inputs and of weights are computed apart. */
  boolean splitsBackward();

  /** The order of work, stage {@code i} holding at most {@code inFlight[i]} micro-batches. */
  Schedule schedule(int microBatches, int[] inFlight);
}
