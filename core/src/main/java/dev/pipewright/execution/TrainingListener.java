package dev.pipewright.execution;

/** Hears how training goes. */
public interface TrainingListener {
  /** A step is done on all workers. */
  void stepped(StepResult step);

  /**
   * Other machines may join now, and have to before anything else happens.
   *
   * @param workers that they have to bring
   * @param token that lets them in
   */
  default void waiting(int workers, int port, String token) {}

  /** Held-out samples have been answered; the step before has been told of. */
  default void evaluated(HeldOutResult result) {}

  /** Whether {@link #stopping} follows an interrupt of the program, which then ends by itself. */
  default boolean handlesInterrupts() {
    return false;
  }

  /** Whether to stop after the step that is running. */
  default boolean stopping() {
    return false;
  }
}
