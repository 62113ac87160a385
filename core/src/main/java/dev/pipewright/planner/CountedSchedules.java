package dev.pipewright.planner;

import dev.pipewright.planner.ScheduledPlanner.Choice;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.catalog.ScheduleInput;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What bounds know of schedules whose order of work follows from the numbers of ranks, chunks and
 * micro-batches. Schedules that are made for durations have no such order, and neither have very
 * long ones here.
 */
final class CountedSchedules {
  private static final long MOST_PASSES = 50_000;

  private final Map<List<Object>, Facts> known = Collections.synchronizedMap(new HashMap<>());

  /**
   * What is known of a schedule for some numbers.
   *
   * @param suits whether there is one for these numbers, as far as is known
   * @param orders of its work, from the first and from the last stage of each rank on, to its first
   *     sum of gradients and to its last; none where it is not known
   * @param flow of micro-batches; empty likewise
   */
  record Facts(boolean suits, List<WorkOrder> orders, Optional<StageFlow> flow) {
    static final Facts UNKNOWN = new Facts(true, List.of(), Optional.empty());
  }

  /** Of a schedule with so many micro-batches on so many ranks. */
  Facts of(Choice choice, int ranks, int microBatches) {
    boolean counts = !choice.entry().needsDurations();
    boolean quick = (long) ranks * choice.chunks() * microBatches <= MOST_PASSES;
    return counts && quick
        ? known.computeIfAbsent(
            List.of(choice, ranks, microBatches), key -> made(choice, ranks, microBatches))
        : Facts.UNKNOWN;
  }

  private static Facts made(Choice choice, int ranks, int microBatches) {
    try {
      Schedule schedule =
          choice.entry().make(ScheduleInput.counts(ranks, microBatches, choice.chunks()));
      return new Facts(
          true,
          List.of(
              WorkOrder.of(schedule),
              WorkOrder.toOwnSums(schedule),
              WorkOrder.ofLastStages(schedule),
              WorkOrder.toFirstSums(schedule)),
          Optional.of(StageFlow.of(schedule)));
    } catch (IllegalArgumentException e) { // so it will be when it is priced
      return new Facts(false, List.of(), Optional.empty());
    }
  }
}
