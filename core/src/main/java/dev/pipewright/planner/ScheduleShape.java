package dev.pipewright.planner;

import dev.pipewright.planner.ScheduledPlanner.Choice;
import dev.pipewright.schedule.FixedOrder;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.catalog.ScheduleInput;
import dev.pipewright.schedule.catalog.UnsuitableException;

/**
 * What bounds need to know of a schedule, whatever its numbers.
 *
 * @param chunks stages of each rank and direction
 * @param chains directions, at most
 * @param copies of each stage, at least
 * @param splits whether gradients of weights may come after those of inputs
 */
record ScheduleShape(int chunks, int chains, int copies, boolean splits) {
  private static final int RANKS = 4; // which suit every schedule

  private static final int MICRO_BATCHES = 16;
  private static final int MOST_CHUNKS = 1024; // of a small one

  /** Of a schedule that cannot be made small: whatever shortens steps. */
  private static final ScheduleShape UNKNOWN = new ScheduleShape(1, 2, 1, true);

  private ScheduleShape(int chunks, int chains, boolean splits) {
    this(chunks, chains, chains, splits);
  }

  /** Whether each rank has one stage. */
  boolean straight() {
    return chunks == 1 && chains == 1;
  }

  /** Found by making a small one; those made for durations split backward passes. */
  static ScheduleShape of(Choice choice) {
    if (choice.entry().needsDurations()) {
      return new ScheduleShape(choice.chunks(), 1, true);
    }
    if (choice.chunks() > MOST_CHUNKS) {
      return UNKNOWN;
    }
    try {
      Schedule small =
          choice.entry().make(ScheduleInput.counts(RANKS, MICRO_BATCHES, choice.chunks()));
      boolean splits = FixedOrder.of(small).splitsBackward();
      return new ScheduleShape(choice.chunks(), small.placement().chains(), splits);
    } catch (UnsuitableException e) { // there is none with so many chunks
      return new ScheduleShape(choice.chunks(), 1, true);
    } catch (IllegalArgumentException e) { // a schedule from a file has numbers of its own
      return UNKNOWN;
    }
  }
}
