package dev.pipewright.execution;

/** Training has stopped because a worker failed. The message names it and what it was doing. */
public final class TrainingFailureException extends RuntimeException {
  private static final long serialVersionUID = 1;

  public TrainingFailureException(String message, Throwable cause) {
    super(message, cause);
  }
}
