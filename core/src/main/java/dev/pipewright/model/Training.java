package dev.pipewright.model;

import dev.pipewright.units.Precision;

/** How a network is trained, as far as memory and arithmetic depend on it. */
public record Training(Optimizer optimizer, Precision precision) {
  /** Static bytes for each parameter: weight, gradient, optimizer state, master copy. */
  public int staticBytesPerParameter() {
    return optimizer.bytesPerParameter(precision);
  }
}
