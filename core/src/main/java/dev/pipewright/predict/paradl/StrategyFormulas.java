package dev.pipewright.predict.paradl;

/** Turns a layout and a batch into seconds and bytes. */
interface StrategyFormulas {
  /** The seconds alone, to choose a layout by. */
  Phases phases(Layout layout, long globalBatch);

  /**
   * Seconds, bytes and what was noticed.
   *
   * @param layout one that the network allows
   * @param globalBatch samples of an iteration
   */
  Estimate estimate(Layout layout, long globalBatch);
}
