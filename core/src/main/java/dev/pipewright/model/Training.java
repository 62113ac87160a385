package dev.pipewright.model;

import dev.pipewright.units.Precision;

/**
 * How a network is trained, as far as memory and arithmetic depend on it.
 *
 * @param halfGradients whether gradients are added up, held and exchanged in 16 bits, not in the 32
 *     that are usual
 */
public record Training(Optimizer optimizer, Precision precision, boolean halfGradients) {
  private static final int HALF_BYTES = 2;

  /** With gradients in 32 bits. */
  public Training(Optimizer optimizer, Precision precision) {
    this(optimizer, precision, false);
  }

  /** Static bytes for each parameter: weight, gradient, optimizer state with the master copy. */
  public int staticBytesPerParameter() {
    return optimizer.bytesPerParameter(precision) - precision.gradientBytes() + gradientBytes();
  }

  /** Bytes of a parameter's gradient. */
  public int gradientBytes() {
    return halfGradients ? HALF_BYTES : precision.gradientBytes();
  }

  /** Bytes of optimizer state for each parameter: moments and the master copy. */
  public int optimizerBytes() {
    return staticBytesPerParameter() - precision.bytes() - gradientBytes();
  }
}
