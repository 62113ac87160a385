package dev.pipewright.runtime.engine;

/** Is notified of each op before a worker runs it, so that a failure can name the op. */
public interface OpListener {
  /** Stands for the sums and the update after the program, in place of an op. */
  long BEHIND = -1;

  /** Ignores all ops. */
  OpListener NONE = (step, position, op) -> {};

  /**
   * The worker begins with an op.
   *
   * @param position in the rank's program, or its length for what follows the program
   * @param op packed
   */
  void before(long step, int position, long op);
}
