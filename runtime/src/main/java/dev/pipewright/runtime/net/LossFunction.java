package dev.pipewright.runtime.net;

import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.runtime.tensor.Functions;
import dev.pipewright.runtime.tensor.Gradients;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.List;
import java.util.Optional;

/** What training makes small: a mean over all rows of a batch. */
public enum LossFunction {
  /** The cross entropy of scores against classes or tokens: a row for each. */
  CROSS_ENTROPY,
  /** Half the square of the difference to values: a row for each sample. */
  SQUARED_ERROR;

  /**
   * What a network is trained for. One that reads volumes estimates quantities (CosmoFlow); all
   * others score classes or tokens, BERT its pooled features.
   */
  public static LossFunction of(LayerGraph graph) {
    for (Layer layer : graph.layers()) {
      boolean volume = layer.output().map(shape -> shape.extents().size() == 4).orElse(false);
      if (layer.operator() instanceof Operator.Input && volume) {
        return SQUARED_ERROR;
      }
    }
    return CROSS_ENTROPY;
  }

  /**
   * How the network has answered.
   *
   * @param loss the sum over rows, as a share of the batch's mean
   * @param correct rows whose highest score is their class's
   * @param gradients of the outputs
   */
  public record Judged(double loss, long correct, long rows, List<Tensor> gradients) {}

  /**
   * Judges some samples of a batch. The tensors belong to the scope that is open.
   *
   * @param outputs of the network; the last one counts
   * @param share of each sample in the batch: the reciprocal of their number
   */
  public Judged judge(List<Tensor> outputs, Tensor target, double share) {
    return judge(outputs, target, share, Optional.empty());
  }

  /**
   * The same loss, computed by all workers of a group together. Collective.
   *
   * @param part of the scores that this worker has, where it does not have all
   */
  public Judged judge(
      List<Tensor> outputs, Tensor target, double share, Optional<ScoresPart> part) {
    Tensor last = outputs.get(outputs.size() - 1);
    if (part.isEmpty() || this != CROSS_ENTROPY) {
      return judge(last, target, share);
    }
    return switch (part.get()) {
      case VocabularyPart words -> judge(last.detached(), target.flattened(0), share, words);
      case TokenPart tokens -> {
        Tensor own = tokens.own(target);
        yield own.elements() == 0
            ? nothing(last)
            : judge(last, own, share * own.extent(1) / target.extent(1));
      }
      case CopyPart(TokenPart tokens, Optional<VocabularyPart> words) -> {
        Tensor own = tokens.own(target);
        double ofTokens = share * own.extent(1) / target.extent(1);
        yield own.elements() == 0
            ? nothing(last)
            : words
                .map(divided -> judge(last.detached(), own.flattened(0), ofTokens, divided))
                .orElseGet(() -> judge(last, own, ofTokens));
      }
    };
  }

  /** Of no rows at all. */
  private static Judged nothing(Tensor scores) {
    return new Judged(0, 0, 0, List.of(Tensor.zeros(scores.shape())));
  }

  private static Judged judge(Tensor own, Tensor wanted, double share, VocabularyPart words) {
    long rows = wanted.extent(0);
    double weight = share * own.extent(0) / rows;
    Tensor scores = own.reshaped(rows, own.elements() / rows);
    VocabularyPart.Judged judged = words.judge(scores, wanted, weight);
    Tensor gradient = judged.gradient().reshaped(own.shape());
    return new Judged(judged.loss(), judged.correct(), rows, List.of(gradient));
  }

  private Judged judge(Tensor last, Tensor target, double share) {
    Tensor leaf = last.detached().withGradient();
    Tensor answers = leaf;
    if (this == CROSS_ENTROPY) {
      long classes = leaf.extent(leaf.shape().length - 1);
      answers = leaf.reshaped(leaf.elements() / classes, classes);
    }
    Tensor wanted = this == CROSS_ENTROPY ? target.flattened(0) : target;
    long rows = wanted.extent(0);
    double weight = share * leaf.extent(0) / rows; // a sample may have several rows
    Tensor sum =
        this == CROSS_ENTROPY
            ? Functions.crossEntropy(answers, wanted)
            : Functions.squaredError(answers, wanted);
    Gradients.add(List.of(sum), List.of(Tensor.ones().times(weight)));
    long correct = this == CROSS_ENTROPY ? Functions.correct(answers, wanted) : 0;
    return new Judged(sum.item() * weight, correct, rows, List.of(leaf.gradient().orElseThrow()));
  }
}
