package dev.pipewright.runtime.net;

import dev.pipewright.runtime.tensor.Functions;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.List;
import java.util.Optional;

/** A product with bias inside a transformer's block. */
final class Projection implements Module {
  private final Parameter weight;
  private final Parameter bias;

  Projection(String name, int in, int out, FirstValues values) {
    weight = values.normal(name + ".weight", out, in);
    bias = values.zeros(name + ".bias", out);
  }

  @Override
  public List<Parameter> parameters() {
    return List.of(weight, bias);
  }

  @Override
  public Tensor forward(List<Tensor> inputs, ForwardPass pass) {
    return of(inputs.get(0), pass);
  }

  Tensor of(Tensor states, ForwardPass pass) {
    Tensor product = Functions.linear(states, weight.value(), Optional.of(bias.value()));
    return pass.used(product, parameters());
  }
}
