package dev.pipewright.planner;

/**
 * What follows the passes of a stage at least, by run of layers.
 *
 * @param tail seconds of what its own passes cannot hide, the optimizer's step included
 * @param exchanges the part of it in which devices exchange, one stage of a rank after another
 * @param rest seconds of sums of gradients that its last backward pass may hide
 * @param overlap the part of that pass that can
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record StageEnds(double[] tail, double[] exchanges, double[] rest, double overlap) {
  /** Of stages of which nothing is known. */
  static StageEnds none(int size) {
    return new StageEnds(new double[size], new double[size], new double[size], 1);
  }

  /** Where passes of other stages may hide sums, too. */
  StageEnds hidden() {
    return new StageEnds(tail, exchanges, new double[rest.length], overlap);
  }

  /**
   * Seconds of sums that are left after a last backward pass.
   *
   * @param rest of a stage
   */
  double left(double rest, double pass) {
    return Math.max(0, rest - overlap * pass);
  }
}
