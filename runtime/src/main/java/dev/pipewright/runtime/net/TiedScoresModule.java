package dev.pipewright.runtime.net;

import dev.pipewright.model.Operator;
import dev.pipewright.runtime.tensor.Functions;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.List;
import java.util.Optional;

/**
 * The scores of all words: products with the rows of an embedding's table. It has a copy of the
 * table that starts with the same numbers and stays the same because both copies get the sum of
 * both gradients ({@link Tied}).
 */
final class TiedScoresModule implements Module {
  private final Parameter table;

  /**
   * @param source what the embedding's own layer draws from, at its beginning
   */
  TiedScoresModule(Operator.Embedding embedding, FirstValues source) {
    table = source.normal("weight", embedding.vocabulary(), embedding.features());
  }

  @Override
  public List<Parameter> parameters() {
    return List.of(table);
  }

  @Override
  public Tensor forward(List<Tensor> inputs, ForwardPass pass) {
    Tensor scores = Functions.linear(inputs.get(0), table.value(), Optional.empty());
    return pass.used(scores, parameters());
  }
}
