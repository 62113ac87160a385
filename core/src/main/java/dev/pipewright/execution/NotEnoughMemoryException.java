package dev.pipewright.execution;

/** The honest answer is no: what was asked for does not fit into this machine's memory. */
public final class NotEnoughMemoryException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /**
   * @param message a sentence: what is needed, what there is, and what would help
   */
  public NotEnoughMemoryException(String message) {
    super(message);
  }
}
