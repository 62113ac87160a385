package dev.pipewright.predict.transformer;

/**
 * Precision of a run.
 *
 * @param products in which matrices are multiplied
 * @param castBytes bytes moved for each element that is cast to 8 or 4 bits; 0 in half precision
 * @param rowwise whether 8-bit scales belong to rows
 * @param pureHalf whether weights, gradients and optimizer state are all in bfloat16
 * @param exchangedGradientBytes of a gradient element between data-parallel ranks
 * @param state bytes of a parameter's state
 */
public record NumberFormats(
    Products products,
    double castBytes,
    boolean rowwise,
    boolean pureHalf,
    int exchangedGradientBytes,
    StateBytes state) {
  /** Formats of products. */
  public enum Products {
    HALF,
    FP8,
    /** With a scale for each 32 elements. */
    MXFP8,
    /** Four bits, with a scale for each 16 elements. */
    NVFP4;

    /**
     * Bytes that a cast moves for each element; the scale of the step itself takes another pass
     * than one of earlier steps.
     *
     * @param delayed whether scales of 8 bits come from earlier steps
     */
    public double castBytes(boolean delayed) {
      return switch (this) {
        case HALF -> 0;
        case FP8 -> delayed ? 4 : 6;
        case MXFP8 -> 5;
        case NVFP4 -> 8;
      };
    }

    /** Whether scales belong to blocks of elements. */
    boolean blockScaled() {
      return this == MXFP8 || this == NVFP4;
    }

    /** Whether inputs of products are kept in 8 bits or fewer for the backward pass. */
    boolean narrow() {
      return this != HALF;
    }
  }

  /**
   * Bytes that a rank keeps for a parameter. Mixed precision keeps 2 + 4 + 12 (half-precision
   * weight, fp32 gradient; fp32 weight and two moments).
   *
   * <p>Source: S. Rajbhandari et al., <i>ZeRO</i>, SC 2020, arXiv:1910.02054, §3.1.
   */
  public record StateBytes(double weight, double gradient, double optimizer) {
    double total() {
      return weight + gradient + optimizer;
    }
  }

  /** The same with gradients that are added up and exchanged in elements of so many bytes. */
  public NumberFormats withGradients(int bytes) {
    StateBytes own = new StateBytes(state.weight(), bytes, state.optimizer());
    return new NumberFormats(products, castBytes, rowwise, pureHalf, bytes, own);
  }

  /**
   * Weights and moments in 32 bits. Gradients have 32 bits but for {@code FP16}; they are exchanged
   * in 16 bits with 8-bit products, too.
   */
  public static NumberFormats mixed(TrainingPrecision precision, Framework framework) {
    boolean half = precision == TrainingPrecision.FP16;
    boolean exchangedHalf = half || precision == TrainingPrecision.FP8 || framework.exchangesHalf();
    return new NumberFormats(
        precision.products(),
        precision.products().castBytes(framework.delaysScales()),
        false,
        false,
        exchangedHalf ? 2 : 4,
        new StateBytes(2, half ? 2 : 4, 12));
  }
}
