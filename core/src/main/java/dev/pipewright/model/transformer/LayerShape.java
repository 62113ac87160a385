package dev.pipewright.model.transformer;

import dev.pipewright.units.Check;

/**
 * One layer of a transformer: attention, a feed-forward part, residual sums and normalisations.
 *
 * @param span which keys its queries read
 * @param norm the kind of its normalisations of h features
 * @param norms how many it has: 2, with norms after both parts 4, with cross-attention 3
 * @param crossAttention whether a second attention of the same shape reads an encoder's output
 */
public record LayerShape(
    AttentionShape attention,
    AttentionSpan span,
    FeedForwardShape feedForward,
    NormShape norm,
    int norms,
    boolean crossAttention) {
  public LayerShape {
    Check.that(norms >= 0 && norms <= 8, "norms=%d is out of range; write 0 to 8", norms);
  }

  /** With two norms and full self-attention. */
  public static LayerShape of(
      AttentionShape attention, FeedForwardShape feedForward, NormShape norm) {
    return new LayerShape(attention, new AttentionSpan.Full(), feedForward, norm, 2, false);
  }

  /** The same with another span. */
  public LayerShape reading(AttentionSpan other) {
    return new LayerShape(attention, other, feedForward, norm, norms, crossAttention);
  }

  /** Attentions: one, or two with cross-attention. */
  public int attentions() {
    return crossAttention ? 2 : 1;
  }

  /** Elements learned, with a hidden size of {@code hidden}. */
  public long parameters(int hidden) {
    return Counts.sum(remaining(hidden), feedForward.parameters(hidden));
  }

  /** Those that take part in a token's output. */
  public long activeParameters(int hidden) {
    return Counts.sum(remaining(hidden), feedForward.activeParameters(hidden));
  }

  /** All but the feed-forward part. */
  private long remaining(int hidden) {
    return Counts.sum(
        Counts.product(attentions(), attention.parameters(hidden)),
        Counts.product(norms, norm.parameters(hidden)));
  }

  /**
   * FLOP of the forward pass for one token of a sequence: two for each multiplication of a matrix
   * product. Element-wise work is not counted.
   */
  public double flopsPerToken(int hidden, int sequence, boolean causal) {
    double products =
        (double) attentions() * attention.weights(hidden) + feedForward.weights(hidden);
    return 2 * products + scoreFlops(sequence, causal);
  }

  /** FLOP of these that meet no weights: of scores and what is read by them. */
  public double scoreFlops(int sequence, boolean causal) {
    double keys = span.keys(sequence, causal) + (crossAttention ? sequence : 0);
    return 2 * attention.scoreWidth() * keys;
  }

  /**
   * Elements of a token that wait for the backward pass, where attention keeps no scores and
   * nothing is dropped out: inputs and outputs of two norms, what attention reads and makes, what
   * the feed-forward part reads inside.
   *
   * <p>Source: V. Korthikanti et al., MLSys 2023, arXiv:2205.05198, §4.1, without masks and scores.
   *
   * <p>Cross-attention keeps as much as another attention with its norm.
   *
   * @param rotary whether queries and keys are rotated by positions
   */
  public double keptElements(int hidden, boolean rotary) {
    return 2.0 * (attentions() + 1) * hidden
        + attentions() * attention.keptElements(rotary)
        + feedForward.keptElements(hidden);
  }

  /**
   * Elements of a token that element-wise work of the forward pass moves: norms, residual sums, the
   * function inside the feed-forward part, copies for experts.
   */
  public double movedElements(int hidden) {
    return (crossAttention ? 22.5 : 15.0) * hidden + feedForward.movedElements(hidden);
  }
}
