package dev.pipewright.runtime.launch;

import java.util.List;
import java.util.Optional;

/** A worker has failed and all others have been stopped. The message is one sentence about it. */
public final class WorkerFailureException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final int worker;
  private final transient Optional<Place> place;
  private final String lastLines;
  private final transient Optional<List<Integer>> joined;

  WorkerFailureException(String message, int worker, Optional<Place> place, String lastLines) {
    super(message);
    this.worker = worker;
    this.place = place;
    this.lastLines = lastLines;
    this.joined = Optional.empty();
  }

  /** Machines have not joined, or workers have not come. */
  WorkerFailureException(String message, Optional<List<Integer>> joined) {
    super(message);
    this.worker = -1;
    this.place = Optional.empty();
    this.lastLines = "";
    this.joined = joined;
  }

  /** The ranks of the machines that had joined where others were missing. */
  public Optional<List<Integer>> joined() {
    return joined;
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
