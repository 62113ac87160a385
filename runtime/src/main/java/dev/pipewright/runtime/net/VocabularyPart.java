package dev.pipewright.runtime.net;

import dev.pipewright.parallel.Span;
import dev.pipewright.runtime.tensor.DividedScores;
import dev.pipewright.runtime.tensor.Functions;
import dev.pipewright.runtime.tensor.Tensor;

/**
 * The words of which a worker has the rows of a table or the scores (M. Shoeybi et al.,
 * <i>Megatron-LM</i>, 2019, §3).
 *
 * @param tensorGroup who has the others
 * @param words of all
 */
public record VocabularyPart(TensorParallelGroup tensorGroup, int words) implements ScoresPart {
  @Override
  public boolean ownRows() {
    return false;
  }

  private Span own() {
    return tensorGroup.own(words);
  }

  /** A worker's rows of a table. */
  Parameter rows(Parameter whole) {
    return whole.piece(tensorGroup, 0);
  }

  /** The rows that tokens name, zeros for those of other workers. */
  Tensor lookedUp(Tensor rows, Tensor tokens) {
    return Functions.embedding(rows, tokens, own().first());
  }

  /** What all workers have looked up together. */
  Tensor sum(Tensor term) {
    return new GroupCommunication(tensorGroup).sum(term);
  }

  /**
   * Judges the worker's scores.
   *
   * @param gradient of them
   */
  record Judged(double loss, long correct, Tensor gradient) {}

  /**
   * The cross entropy, summed over all rows, times {@code weight}. Collective: all workers of the
   * group calls it.
   *
   * @param scores rows × words of this worker
   * @param wanted word of each row
   */
  Judged judge(Tensor scores, Tensor wanted, double weight) {
    DividedScores own = new DividedScores(scores, wanted, own().first());
    long each = own.terms().extent(1);
    Tensor all =
        tensorGroup.assembled(
            own.terms(), TensorCut.of(tensorGroup, 1, each * tensorGroup.parts()));
    Tensor terms = all.reshaped(scores.extent(0), tensorGroup.parts(), each);
    DividedScores.Loss loss = own.loss(terms);
    return new Judged(loss.sum() * weight, loss.correct(), own.gradient(terms, weight));
  }
}
