package dev.pipewright.runtime.engine;

/**
 * How samples were answered, as far as a worker has seen it.
 *
 * @param loss the worker's share: those of all workers add up to the mean over all samples
 * @param correct rows that were answered rightly
 * @param rows that were answered at all
 */
public record EvaluationResult(double loss, long correct, long rows) {
  static final EvaluationResult NONE = new EvaluationResult(0, 0, 0);

  EvaluationResult plus(EvaluationResult that) {
    return new EvaluationResult(loss + that.loss, correct + that.correct, rows + that.rows);
  }
}
