package dev.pipewright.schedule;

import java.util.Arrays;

/** A rank's program while it is written. */
public final class Program {
  private static final int USUAL = 16;

  private long[] ops;
  private int size;

  /** One that grows as needed. */
  public Program() {
    this(USUAL);
  }

  /** One with room for so many ops, and more if needed. */
  public Program(int room) {
    ops = new long[room];
  }

  /** Adds an op at the end. */
  public Program add(Op.Pass pass, int stage, int microBatch) {
    return add(Schedule.pack(pass, stage, microBatch));
  }

  /** Adds an op as {@link Schedule#packed} has it. */
  public Program add(long op) {
    if (size == ops.length) {
      ops = Arrays.copyOf(ops, Math.max(USUAL, 2 * size));
    }
    ops[size++] = op;
    return this;
  }

  /** Adds an op before the {@code at}-th, which is among the last. */
  public Program insert(int at, long op) {
    add(op);
    for (int i = size - 1; i > at; i--) {
      ops[i] = ops[i - 1];
    }
    ops[at] = op;
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

  /** The ops, for a {@link Schedule}; nothing may be written any more. */
  public long[] packed() {
    return size == ops.length ? ops : Arrays.copyOf(ops, size);
  }
}
