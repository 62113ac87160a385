package dev.pipewright.planner.pipedream;

/**
 * Seconds that one unit of a level takes for the layers between two places: what the next level
 * calls computing. Place 0 is before all layers, place p after position p − 1 of the chain.
 *
 * <p>Of a stage from one place to another they are the sum of what {@link #upTo} says of the later
 * and of a number in an array, which the innermost loops read without a call.
 */
interface StageSeconds {
  /** Seconds for the layers after {@code from} and up to {@code to}, where those follow. */
  default double exact(int from, int to) {
    return upTo(to) + from()[column(to) + from];
  }

  /** The part that depends on the later place alone. */
  double upTo(int to);

  /** Where the numbers of a later place begin, by earlier place. */
  int column(int to);

  /** What is added for an earlier place. */
  double[] from();

  /**
   * The same for no more than {@link #exact} of {@code from} and of every earlier place: it never
   * grows with {@code from}.
   */
  double[] fromAtLeast();
}
