package dev.pipewright.model.transformer;

import dev.pipewright.units.Check;

/**
 * Multi-token prediction: blocks after the last one, each of which predicts one token further. Each
 * reads the states before it and the embedding of the next token, both normalised and joined by a
 * matrix; embedding and head are those of the network.
 *
 * <p>Source: DeepSeek-AI, <i>DeepSeek-V3</i>, arXiv:2412.19437, §2.2.
 *
 * @param depth tokens predicted in addition to the next one
 * @param block the block of each
 */
public record TokenPrediction(int depth, LayerShape block) {
  public TokenPrediction {
    Check.that(depth >= 1 && depth <= 64, "mtp_layers=%d is out of range; write 1 to 64", depth);
  }

  /** Elements learned: the matrix from 2h to h, three norms and the block, for each depth. */
  public long parameters(int hidden) {
    long one =
        Counts.sum(
            Counts.product(2, hidden, hidden),
            Counts.product(3, block.norm().parameters(hidden)),
            block.parameters(hidden));
    return Counts.product(depth, one);
  }
}
