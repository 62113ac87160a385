package dev.pipewright.execution;

import java.util.List;
import java.util.Optional;

/** Training has stopped because a worker failed. The message names it and what it was doing. */
public final class TrainingFailureException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final transient Optional<String> checkpoint;
  private final transient Optional<List<Integer>> joined;

  public TrainingFailureException(String message, Throwable cause) {
    this(message, cause, Optional.empty(), Optional.empty());
  }

  /**
   * A failure after which a run may be restarted.
   *
   * @param checkpoint the last one that the run has written, if any
   * @param joined where the run has not begun because machines were missing: the ranks of those
   *     that had joined
   */
  public TrainingFailureException(
      String message,
      Throwable cause,
      Optional<String> checkpoint,
      Optional<List<Integer>> joined) {
    super(message, cause);
    this.checkpoint = checkpoint;
    this.joined = joined.map(List::copyOf);
  }

  /** The last checkpoint that the run has written. */
  public Optional<String> checkpoint() {
    return checkpoint;
  }

  /** The ranks of machines that had joined, where the run has not begun because others had not. */
  public Optional<List<Integer>> joined() {
    return joined;
  }
}
