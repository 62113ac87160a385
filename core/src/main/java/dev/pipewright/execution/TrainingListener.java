package dev.pipewright.execution;

/** Hears how training goes. */
public interface TrainingListener {
  /** A step is done on all workers. */
  void stepped(StepResult step);

  /** Whether to stop after the step that is running. */
  default boolean stopping() {
    return false;
  }
}
