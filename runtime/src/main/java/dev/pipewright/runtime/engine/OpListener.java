package dev.pipewright.runtime.engine;

/** Is told what a worker is about to do, so that one that dies can be asked about. */
public interface OpListener {
  /** In place of an op: the sums and the update behind the program. */
  long BEHIND = -1;

  /** Nobody listens. */
  OpListener NONE = (step, position, op) -> {};

  /**
   * The worker begins with an op.
   *
   * @param position in the rank's program, or its length for what follows the program
   * @param op packed
   */
  void before(long step, int position, long op);
}
