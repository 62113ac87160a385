package dev.pipewright.schedule;

import dev.pipewright.schedule.Op.Pass;
import java.util.HashSet;
import java.util.Set;

/**
 * Any schedule with some forward passes run again before their backward passes, so that from the
 * one to the other only a stage's input is kept.
 *
 * <p>The forward pass runs again right before the backward pass, or before its first half, on the
 * input's gradient; of passes that run together, before all of them. O(ops).
 */
public final class Recomputed {
  /** No forward pass runs again. */
  public static final Selector NONE = (stage, microBatch) -> false;

  /** Which forward passes run again. */
  @FunctionalInterface
  public interface Selector {
    /**
     * Whether this one does.
     *
     * @param stage of all chains, as in {@link Op}
     * @param microBatch of its chain
     */
    boolean recomputes(int stage, int microBatch);
  }

  private Recomputed() {}

  /** The same schedule where nothing is selected; what is recomputed already stays as it is. */
  public static Schedule of(Schedule schedule, Selector selector) {
    long[][] programs = new long[schedule.ranks()][];
    for (int rank = 0; rank < programs.length; rank++) {
      programs[rank] = program(schedule.packed(rank), selector);
    }
    return new Schedule(schedule.name(), schedule.placement(), schedule.microBatches(), programs);
  }

  private static long[] program(long[] ops, Selector selector) {
    Selector open = withoutRecomputed(ops, selector);
    Program program = new Program(ops.length);
    boolean together = false; // with the op before
    for (int i = 0; i < ops.length; i++) {
      if (!together) {
        addAgain(program, ops, i, open);
      }
      program.add(ops[i]);
      together = Schedule.isJoined(ops[i]);
    }
    return program.packed();
  }

  /** The forward passes for the ops that run together from {@code first} on. */
  private static void addAgain(Program program, long[] ops, int first, Selector selector) {
    for (int i = first; i < ops.length; i++) {
      int stage = Schedule.stage(ops[i]);
      int microBatch = Schedule.microBatch(ops[i]);
      if (Schedule.pass(ops[i]).propagates() && selector.recomputes(stage, microBatch)) {
        program.add(Pass.RECOMPUTE, stage, microBatch);
      }
      if (!Schedule.isJoined(ops[i])) {
        return;
      }
    }
  }

  private static Selector withoutRecomputed(long[] ops, Selector selector) {
    Set<Long> already = new HashSet<>();
    for (long op : ops) {
      if (Schedule.pass(op) == Pass.RECOMPUTE) {
        already.add(Schedule.pack(Pass.RECOMPUTE, Schedule.stage(op), Schedule.microBatch(op)));
      }
    }
    return already.isEmpty()
        ? selector
        : (stage, microBatch) ->
            !already.contains(Schedule.pack(Pass.RECOMPUTE, stage, microBatch))
                && selector.recomputes(stage, microBatch);
  }
}
