package dev.pipewright.runtime.launch;

import java.util.Optional;

/** A worker has failed and all others have been stopped. The message is one sentence about it. */
public final class WorkerFailureException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final int worker;
  private final transient Optional<Place> place;
  private final String lastLines;

  WorkerFailureException(String message, int worker, Optional<Place> place, String lastLines) {
    super(message);
    this.worker = worker;
    this.place = place;
    this.lastLines = lastLines;
  }

  /** The one that failed first. */
  public int worker() {
    return worker;
  }

  /** The worker's position; empty before its first op. */
  public Optional<Place> place() {
    return place;
  }

  /** The last that it printed. */
  public String lastLines() {
    return lastLines;
  }
}
