package dev.pipewright.predict.paradl;

import java.util.Optional;

/** Turns a layout and a batch into seconds and bytes. */
interface StrategyFormulas {
  /** Why there is no answer for a layout that the network allows; empty where there is one. */
  default Optional<String> refusal(Layout layout, long globalBatch) {
    return Optional.empty();
  }

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
