package dev.pipewright.runtime.engine;

/**
 * The part of an evaluation's result that a worker has.
 *
 * @param loss the worker's share: those of all workers add up to the mean over all samples
 * @param correct rows whose highest score is that of their class
 * @param rows all of them
 */
public record EvaluationResult(double loss, long correct, long rows) {
  static final EvaluationResult NONE = new EvaluationResult(0, 0, 0);

  EvaluationResult plus(EvaluationResult that) {
    return new EvaluationResult(loss + that.loss, correct + that.correct, rows + that.rows);
  }
}
