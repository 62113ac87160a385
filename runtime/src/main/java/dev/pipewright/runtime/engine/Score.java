package dev.pipewright.runtime.engine;

/**
 * A worker's share of what some samples scored.
 *
 * @param loss those of all workers add up to the mean over all samples
 * @param correct rows whose highest score is that of their class
 * @param rows all of them
 */
public record Score(double loss, long correct, long rows) {
  static final Score NONE = new Score(0, 0, 0);

  Score plus(Score that) {
    return new Score(loss + that.loss, correct + that.correct, rows + that.rows);
  }
}
