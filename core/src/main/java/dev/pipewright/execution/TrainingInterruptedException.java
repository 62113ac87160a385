package dev.pipewright.execution;

/** Training has ended before its last step because its user, or the system, interrupted it. */
public final class TrainingInterruptedException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /**
   * @param message a sentence: after how many steps, and what is kept of them
   */
  public TrainingInterruptedException(String message, Throwable cause) {
    super(message, cause);
  }
}
