package dev.pipewright.runtime.engine;

/** A stage of a chain as a worker computes it. */
interface OwnStage {
  Stage stage();

  /** Whether gradients of inputs and of parameters are computed apart. */
  boolean inTwoParts();

  /** Where its parameters are. */
  default GatheredParameters gatheredParameters() {
    return GatheredParameters.ALWAYS;
  }

  /** A backward pass has left a segment behind. */
  void left(int segment);
}
