package dev.pipewright.planner.pipedream;

/**
 * Seconds that one unit of a level takes for the layers between two places: what the next level
 * calls computing. Place 0 is before all layers, place p after position p − 1 of the chain.
 */
interface StageSeconds {
  /** Seconds for the layers after {@code from} and up to {@code to}, where those follow. */
  double exact(int from, int to);

  /**
   * No more than {@link #exact} for {@code from} and for every earlier place: it never grows with
   * {@code from}.
   */
  double atLeast(int from, int to);
}
