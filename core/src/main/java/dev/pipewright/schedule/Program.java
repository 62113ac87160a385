package dev.pipewright.schedule;

import java.util.Arrays;

/** A rank's program while it is written. */
public final class Program {
  private long[] ops = new long[16];
  private int size;

  /** Adds an op at the end. */
  public Program add(Op.Pass pass, int stage, int microBatch) {
    return add(Schedule.pack(pass, stage, microBatch));
  }

  /** Adds an op as {@link Schedule#packed} has it. */
  public Program add(long op) {
    if (size == ops.length) {
      ops = Arrays.copyOf(ops, 2 * size);
    }
    ops[size++] = op;
    return this;
  }

  /** Makes the last op run together with the next that is added. */
  public Program join() {
    ops[size - 1] = Schedule.joined(ops[size - 1]);
    return this;
  }

  public int size() {
    return size;
  }

  /** The ops so far, for a {@link Schedule}. */
  public long[] packed() {
    return Arrays.copyOf(ops, size);
  }
}
