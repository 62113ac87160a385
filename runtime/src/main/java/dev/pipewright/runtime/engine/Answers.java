package dev.pipewright.runtime.engine;

/**
 * How samples were answered, as far as a worker has seen it.
 *
 * @param loss the worker's share: those of all workers add up to the mean over all samples
 * @param correct rows that were answered rightly
 * @param rows that were answered at all
 */
public record Answers(double loss, long correct, long rows) {
  static final Answers NONE = new Answers(0, 0, 0);

  Answers plus(Answers that) {
    return new Answers(loss + that.loss, correct + that.correct, rows + that.rows);
  }
}
