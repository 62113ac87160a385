package dev.pipewright.runtime.engine;

import dev.pipewright.plan.SampleRange;

/** What a worker does between its messages. */
interface Computation {
  /**
   * The share of a step's answers that a worker has seen.
   *
   * @param loss the worker's share: those of all workers add up to the mean over the batch
   * @param correct rows that were answered rightly
   * @param rows that were answered at all
   */
  record Score(double loss, long correct, long rows) {
    /** Nothing was answered. */
    static final Score NONE = new Score(0, 0, 0);

    Score plus(Score that) {
      return new Score(loss + that.loss, correct + that.correct, rows + that.rows);
    }
  }

  /**
   * A micro-batch that comes to a stage.
   *
   * @param keeps whether it keeps all although others keep the stage's input only
   */
  Flight flight(StageParameters own, long step, SampleRange samples, boolean keeps);

  /** Whether parameters change; otherwise only the sizes of tensors matter. */
  boolean learns();

  /**
   * Updates a stage.
   *
   * @param learning changes its parameters by their gradients
   */
  void update(Stage stage, Runnable learning);

  /** What has come out of a step's samples since the last time. */
  Score score(long step);
}
