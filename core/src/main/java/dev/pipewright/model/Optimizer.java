package dev.pipewright.model;

import dev.pipewright.units.Precision;

/** What the update rule keeps for each parameter in addition to the weight and its gradient. */
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
   * Static bytes per parameter: weight, 32-bit gradient, 32-bit moments and, in 16 bits, the 32-bit
   * master weight.
   *
   * <pre>
   *                 weight  gradient  master  moments   sum
   *   SGD   32 bits      4         4       –        –     8
   *         16 bits      2         4       4        –    10
   *   one   32 bits      4         4       –        4    12     momentum, RMSProp
   *         16 bits      2         4       4        4    14
   *   Adam  32 bits      4         4       –        8    16
   *         16 bits      2         4       4        8    18
   * </pre>
   *
   * <p>Megatron-LM holds the same 18 for bfloat16, whose gradients it adds up in 32 bits ({@code
   * --accumulate-allreduce-grads-in-fp32}); PyTorch's autocast keeps weights in 32 bits and a
   * cached 16-bit cast of them, which is the same sum.
   */
  public int bytesPerParameter(Precision precision) {
    return precision.bytes() + precision.gradientBytes() + precision.masterBytes() + 4 * moments;
  }
}
