package dev.pipewright.runtime.net;

import dev.pipewright.runtime.tensor.Tensor;

/**
 * The tokens of which a worker has the scores: it judges these rows alone, and the loss is the sum
 * of all workers'.
 *
 * @param tensorGroup who has the others
 */
public record TokenPart(TensorParallelGroup tensorGroup) implements ScoresPart {
  @Override
  public boolean ownRows() {
    return true;
  }

  /**
   * What is right for them.
   *
   * @param target samples × tokens
   */
  Tensor own(Tensor target) {
    return tensorGroup.own(
        target, TensorCut.ofTokens(tensorGroup, target.extent(0), target.extent(1)));
  }
}
