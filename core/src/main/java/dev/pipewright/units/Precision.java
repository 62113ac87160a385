package dev.pipewright.units;

/** The number format that activations, weights and gradients are computed in. */
public enum Precision {
  FP32(4),
  /** 16-bit arithmetic with 32-bit master weights. */
  MIXED(2);

  private final int bytes;

  Precision(int bytes) {
    this.bytes = bytes;
  }

  /** Bytes of one element of an activation. */
  public int bytes() {
    return bytes;
  }
}
