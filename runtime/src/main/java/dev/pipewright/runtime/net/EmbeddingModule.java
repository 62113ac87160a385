package dev.pipewright.runtime.net;

import dev.pipewright.model.Operator;
import dev.pipewright.runtime.tensor.Functions;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.List;

/** The rows of a table that tokens name. */
final class EmbeddingModule implements Module {
  private final Parameter table;

  EmbeddingModule(Operator.Embedding operator, FirstValues values) {
    table = values.normal("weight", operator.vocabulary(), operator.features());
  }

  @Override
  public List<Parameter> parameters() {
    return List.of(table);
  }

  @Override
  public Tensor forward(List<Tensor> inputs, ForwardPass pass) {
    return pass.used(Functions.embedding(table.value(), inputs.get(0)), parameters());
  }
}
