package dev.pipewright.runtime.launch;

/** An interrupt has ended a run before its workers came to an end by themselves. */
public final class InterruptedRunException extends RuntimeException {
  private static final long serialVersionUID = 1;

  InterruptedRunException() {
    super("the run was interrupted");
  }
}
