package dev.pipewright.model;

import dev.pipewright.units.Precision;

/** How a network is trained, as far as memory and arithmetic depend on it. */
public record Training(Optimizer optimizer, Precision precision) {
  /** Static bytes for each parameter: weight, gradient, optimizer state with the master copy. */
  public int staticBytesPerParameter() {
    return optimizer.bytesPerParameter(precision);
  }

  /** Bytes of a parameter's gradient. */
  public int gradientBytes() {
    return precision.gradientBytes();
  }

  /** Bytes of optimizer state for each parameter: moments and the master copy. */
  public int optimizerBytes() {
    return staticBytesPerParameter() - precision.bytes() - gradientBytes();
  }
}
