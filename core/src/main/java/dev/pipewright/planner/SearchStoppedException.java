package dev.pipewright.planner;

/** A search was asked to end before it had found anything. */
public final class SearchStoppedException extends RuntimeException {
  private static final long serialVersionUID = 1;

  public SearchStoppedException() {
    super(
        "the search was ended before it found a plan; give it more time, or a network of fewer layers");
  }
}
