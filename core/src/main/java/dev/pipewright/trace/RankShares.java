package dev.pipewright.trace;

/**
 * What a rank did in a measured step.
 *
 * @param rank its number
 * @param seconds of the step
 * @param busy seconds in which at least one stream computed
 * @param exposed seconds in which the rank communicated and no stream computed
 * @param copies seconds in which it only copied or filled memory
 */
public record RankShares(int rank, double seconds, double busy, double exposed, double copies) {
  /**
   * From what streams did.
   *
   * @param seconds of the step
   */
  public static RankShares of(
      int rank, double seconds, Intervals computed, Intervals communicated, Intervals copied) {
    double busy = computed.length();
    double exposed = communicated.lengthOutside(computed);
    Intervals both = new Intervals();
    both.addAll(computed);
    both.addAll(communicated);
    return new RankShares(rank, seconds, busy, exposed, copied.lengthOutside(both));
  }

  /** Seconds in which no stream did anything: the bubble, where the rank is one of a pipeline. */
  public double idle() {
    return Math.max(0, seconds - busy - exposed - copies);
  }
}
