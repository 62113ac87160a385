package dev.pipewright.model;

import dev.pipewright.units.Precision;

/** What the update rule keeps for each parameter beside the weight and its gradient. */
public enum Optimizer {
  SGD(0),
  MOMENTUM(1),
  /** One running average, as AmoebaNet is trained with. */
  RMSPROP(1),
  ADAM(2);

  private final int moments;

  Optimizer(int moments) {
    this.moments = moments;
  }

  /**
   * Static bytes per parameter: weight, gradient, 32-bit moments and, in mixed precision, the
   * 32-bit master weight. Adam needs 16 in both precisions (4+4+8; 2+2+4+8).
   */
  public int bytesPerParameter(Precision precision) {
    int master = precision == Precision.MIXED ? 4 : 0;
    return 2 * precision.bytes() + master + 4 * moments;
  }
}
