package dev.pipewright.app.report;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;
import java.util.EnumSet;
import java.util.Set;

/**
 * A schedule with the times of its ops, as pictures and tables need it.
 *
 * @param name the schedule's name
 * @param microBatches of all directions
 * @param times the assumed times in words
 * @param chunks stages of each rank and direction
 * @param starts by rank and position in its program
 * @param ends by rank and position in its program
 * @param idleShare of the makespan
 * @param spanIdleShare of the longest span from a rank's first op to its last
 * @param peaks of each rank, in activations of one chunk and micro-batch
 * @param memoryCap in micro-batch activations of one stage; infinite for none
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record ScheduleRun(
    String name,
    int microBatches,
    String times,
    int chunks,
    Schedule schedule,
    double[][] starts,
    double[][] ends,
    double makespan,
    double idleShare,
    double spanIdleShare,
    int[] peaks,
    double memoryCap) {

  /** For each stage of each chain, which of its rank's stages it is. */
  int[] chunkOf() {
    int[] chunkOf = new int[schedule.stages()];
    int[] seen = new int[schedule.ranks()];
    for (int stage = 0; stage < chunkOf.length; stage++) {
      chunkOf[stage] = seen[schedule.placement().rankOf(stage)]++;
    }
    return chunkOf;
  }

  /** The passes that occur. */
  Set<Pass> passes() {
    Set<Pass> passes = EnumSet.noneOf(Pass.class);
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      for (long op : schedule.packed(rank)) {
        passes.add(Schedule.pass(op));
      }
    }
    return passes;
  }

  /** Whether the op at a position runs together with the one before it. */
  boolean joinsPrevious(int rank, int position) {
    return position > 0 && Schedule.isJoined(schedule.packed(rank)[position - 1]);
  }

  String title() {
    return "%s: %d ranks, %d micro-batches".formatted(name, schedule.ranks(), microBatches);
  }
}
