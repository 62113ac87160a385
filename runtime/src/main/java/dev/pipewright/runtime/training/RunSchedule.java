package dev.pipewright.runtime.training;

import dev.pipewright.plan.Assignment;

/**
 * The steps of a run and when it evaluates and writes checkpoints.
 *
 * @param first step, counted from 0: as many were made before
 * @param samplesBefore that were trained on in these
 * @param end the step after the last
 * @param evaluateEvery so many steps held-out samples are answered; 0 for never
 * @param checkpointEvery so many steps a checkpoint is written; 0 for never
 */
record RunSchedule(
    long first, long samplesBefore, long end, int evaluateEvery, int checkpointEvery) {
  /** The most that flow into one another: so much program is held at once. */
  private static final int MOST_FLOWING = 1 << 12;

  /** How many samples come before those of a step. */
  long position(long step, Assignment assignment) {
    return samplesBefore + (step - first) * assignment.batch();
  }

  /** Whether the held-out set is evaluated after a step. */
  boolean evaluates(long step) {
    return evaluateEvery > 0 && ((step + 1) % evaluateEvery == 0 || step + 1 == end);
  }

  /** Whether a checkpoint is written after a step in any case. */
  boolean keeps(long step) {
    return checkpointEvery > 0 && (step + 1) % checkpointEvery == 0;
  }

  /** Whether something else happens between the step before and this one. */
  boolean pausesBefore(long step) {
    return step == first || evaluates(step - 1) || keeps(step - 1);
  }

  /**
   * How many steps from this one on flow into one another: until something comes between them.
   *
   * @param round steps that cannot be parted
   */
  int asynchronous(long step, int round) {
    long most = (long) MOST_FLOWING * round;
    long limit = Math.min(end, (step / most + 1) * most);
    long behind = step + 1;
    while (behind < limit && !pausesBefore(behind)) {
      behind++;
    }
    return Math.toIntExact(behind - step);
  }
}
