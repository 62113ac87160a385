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
  record Score(double loss, long correct, long rows) {}

  /** A micro-batch that comes to a stage. */
  Flight flight(HeldStage held, long step, SampleRange samples);

  /** Once all gradients are there; {@code learning} changes the parameters by them. */
  void update(Runnable learning);

  /** What has come out since the last time. */
  Score score();
}
