package dev.pipewright.predict.transformer;

/**
 * Bytes that a pipeline rank's GPU holds in tensors at its peak.
 *
 * @param state weights, gradients and optimizer state, with gathered copies and copies in 8 bits
 * @param activations kept for backward passes
 * @param workingSet of the layer that is recomputed or moved to the host
 * @param logits of the loss, on the last rank
 * @param embedding output of the table of words, on the first rank
 * @param workspace of libraries
 */
public record TransformerRankBytes(
    double state,
    double activations,
    double workingSet,
    double logits,
    double embedding,
    double workspace) {
  public double total() {
    return state + activations + workingSet + logits + embedding + workspace;
  }
}
