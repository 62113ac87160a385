package dev.pipewright.cost.strategy;

/** Turns a layout and a batch into seconds and bytes. */
interface StrategyFormulas {
  /**
   * @param layout one that the network allows
   * @param globalBatch samples of an iteration
   */
  Estimate estimate(Layout layout, long globalBatch);
}
