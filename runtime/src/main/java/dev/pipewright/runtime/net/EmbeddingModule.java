package dev.pipewright.runtime.net;

import dev.pipewright.model.Operator;
import dev.pipewright.runtime.tensor.Functions;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.List;
import java.util.Optional;

/** The rows of a table that tokens name. */
final class EmbeddingModule implements Module {
  private final Parameter table;
  private final Optional<VocabularyPart> own;

  /**
   * @param own the words whose rows a worker has, where the table is divided
   */
  EmbeddingModule(Operator.Embedding operator, FirstValues values, Optional<VocabularyPart> own) {
    Parameter whole = values.normal("weight", operator.vocabulary(), operator.features());
    this.own = own;
    this.table = own.map(part -> part.rows(whole)).orElse(whole);
  }

  @Override
  public List<Parameter> parameters() {
    return List.of(table);
  }

  @Override
  public Tensor forward(List<Tensor> inputs, ForwardPass pass) {
    Tensor tokens = inputs.get(0);
    if (own.isEmpty()) {
      return pass.used(Functions.embedding(table.value(), tokens), parameters());
    }
    VocabularyPart part = own.get();
    return part.sum(pass.used(part.lookedUp(table.value(), tokens), parameters()));
  }
}
