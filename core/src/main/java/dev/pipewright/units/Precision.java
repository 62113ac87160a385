package dev.pipewright.units;

import java.util.Locale;

/**
 * The number format of products of matrices. Sums are in 32 bits in all of them.
 *
 * <p>The 16-bit formats are mixed precision (P. Micikevicius et al., <i>Mixed precision
 * training</i>, ICLR 2018, arXiv:1710.03740): activations and the weights that passes read have 16
 * bits, gradients are added up in 32 bits, and the optimizer updates a 32-bit copy of the weights.
 */
public enum Precision {
  FP32(4),
  /** Operands in memory have 32 bits; tensor cores round them to 19 (NVIDIA A100 and later). */
  TF32(4),
  /** Half precision (IEEE 754): needs a loss scale. */
  FP16(2),
  /** The exponent of 32 bits with 8 bits of mantissa. */
  BF16(2);

  private final int bytes;

  Precision(int bytes) {
    this.bytes = bytes;
  }

  /** Bytes of one element of an activation, and of a weight as passes read it. */
  public int bytes() {
    return bytes;
  }

  /** Bytes of one element of a weight's gradient, in memory and in an all-reduce. */
  public int gradientBytes() {
    return 4;
  }

  /** Bytes of an element of the weights' 32-bit copy; 0 where the weights themselves have 32. */
  public int masterBytes() {
    return bytes < 4 ? 4 : 0;
  }

  /** Whether only tensor cores compute in it. */
  public boolean onTensorCores() {
    return this != FP32;
  }

  /** As users write it: {@code bf16}. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
