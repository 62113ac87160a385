package dev.pipewright.model.transformer;

/**
 * A normalisation of features. Sources: J. L. Ba et al., <i>Layer normalization</i>,
 * arXiv:1607.06450; B. Zhang and R. Sennrich, <i>Root mean square layer normalization</i>, NeurIPS
 * 2019.
 */
public enum NormShape {
  /** Mean and variance; scale and shift. */
  LAYER(2),
  /** Root mean square; scale. */
  RMS(1),
  /** Nothing learned: OLMo's layer norm, Llama 4's norm of queries and keys. */
  PLAIN(0);

  private final int vectors;

  NormShape(int vectors) {
    this.vectors = vectors;
  }

  /** Learned elements over {@code width} features. */
  public long parameters(long width) {
    return Counts.product(vectors, width);
  }
}
