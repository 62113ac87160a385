package dev.pipewright.runtime.engine;

import dev.pipewright.plan.SampleRange;

/** What a worker does between its messages. */
interface Computation {
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
