package dev.pipewright.schedule.periodic;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Program;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.units.Check;
import java.util.Arrays;

/**
 * A pattern that trains: its first batches with an update of each stage behind so many of them, and
 * two versions of the weights, which is what §3.2 counts. The rule is that of {@link
 * dev.pipewright.schedule.PipeDream2bw}, whose micro-batches are the pattern's batches. O(ops).
 */
public final class UpdatedPattern {
  private UpdatedPattern() {}

  /**
   * The schedule.
   *
   * @param perUpdate batches of an update, {@link #least} or more
   */
  public static Schedule of(String name, Pattern pattern, int perUpdate, int updates) {
    check(pattern, perUpdate);
    Schedule passes = Unrolled.of(name, pattern, Math.multiplyExact(perUpdate, updates));
    long[][] programs = new long[passes.ranks()][];
    for (int rank = 0; rank < programs.length; rank++) {
      programs[rank] = withUpdates(passes.packed(rank), perUpdate);
    }
    return new Schedule(name, passes.placement(), passes.microBatches(), programs);
  }

  private static long[] withUpdates(long[] passes, int perUpdate) {
    Program program = new Program(passes.length + passes.length / perUpdate);
    for (long op : passes) {
      program.add(op);
      int done = Schedule.microBatch(op) + 1;
      if (Schedule.pass(op) == Pass.BACKWARD && done % perUpdate == 0) {
        program.add(Pass.UPDATE, Schedule.stage(op), done / perUpdate - 1);
      }
    }
    return program.packed();
  }

  /**
   * The fewest batches of an update with which two versions are enough: as many as any stage has in
   * flight, so that those of two updates at most are under way at once.
   */
  public static int least(Pattern pattern) {
    return Math.max(1, Arrays.stream(pattern.concurrentActivations()).max().orElse(1));
  }

  /** Throws {@link IllegalArgumentException} where it cannot train so. */
  public static void check(Pattern pattern, int perUpdate) {
    Check.that(
        perUpdate >= least(pattern),
        "two versions are enough from as many batches per update as are in flight on: per_update=%d; take %d or more",
        perUpdate,
        least(pattern));
    int[] before = new int[pattern.stages().size()];
    Arrays.fill(before, Integer.MIN_VALUE);
    for (RepeatedOp op : pattern.ops()) {
      if (op.pass() == Pass.BACKWARD) {
        Check.that(
            op.shift() > before[op.stage()],
            "an update is behind its last batch, so a stage's backward passes are in their batches' order: %s",
            op);
        before[op.stage()] = op.shift();
      }
    }
  }
}
