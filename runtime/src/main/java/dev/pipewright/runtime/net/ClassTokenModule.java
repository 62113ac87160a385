package dev.pipewright.runtime.net;

import dev.pipewright.model.Operator;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.List;

/** The positions of a map as the steps of a sequence, after a learned first step. */
final class ClassTokenModule implements Module {
  private final Parameter token;

  ClassTokenModule(Operator.ClassToken operator, FirstValues values) {
    token = values.normal("token", 1, 1, operator.features());
  }

  @Override
  public List<Parameter> parameters() {
    return List.of(token);
  }

  @Override
  public Tensor forward(List<Tensor> inputs, ForwardPass pass) {
    Tensor places = inputs.get(0).flattened(2).transposed(1, 2);
    Tensor first = Tensor.zeros(places.extent(0), 1, places.extent(2)).plus(token.value());
    return Tensor.joined(List.of(pass.used(first, parameters()), places), 1);
  }
}
