package dev.pipewright.runtime.net;

import dev.pipewright.runtime.tensor.Tensor;

/**
 * The tokens of which a worker has the scores: it judges these rows alone, and the loss is the sum
 * of all workers'.
 *
 * @param cut of rows by tokens, which are the second axis
 * @param tensorGroup who has the others
 */
public record TokenPart(TensorCut cut, TensorParallelGroup tensorGroup) implements ScoresPart {
  @Override
  public boolean ownRows() {
    return true;
  }

  /** What is right for them. */
  Tensor own(Tensor target) {
    return tensorGroup.own(target, cut);
  }
}
