package dev.pipewright.planner.pipedream;

/**
 * Seconds that one unit of a level takes for the layers between two places: what the next level
 * calls computing. Place 0 is before all layers, place p after position p − 1 of the chain.
 *
 * <p>Of a stage they are the sum of a number of the later place and one of both places, which the
 * innermost loops read from arrays without a call.
 */
interface StageSeconds {
  /** Seconds for the layers after {@code from} and up to {@code to}, where those follow. */
  default double exact(int from, int to) {
    return upTo()[to] + from()[column()[to] + from];
  }

  /** The numbers of later places. */
  double[] upTo();

  /** The numbers of both: of a later place, by earlier place, from its {@link #column} on. */
  double[] from();

  /**
   * The same for no more than {@link #exact} of an earlier place and of all before it: it never
   * grows with the earlier place.
   */
  double[] fromAtLeast();

  /** Where the numbers of a later place begin. */
  int[] column();
}
