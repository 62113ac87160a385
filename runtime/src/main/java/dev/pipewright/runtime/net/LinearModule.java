package dev.pipewright.runtime.net;

import dev.pipewright.runtime.tensor.Functions;
import dev.pipewright.runtime.tensor.RandomSource;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.List;
import java.util.Optional;

/** A product with a matrix over the last axis; a map is flattened first where it has to be. */
final class LinearModule implements Module {
  private final Parameter weight;
  private final Optional<Parameter> bias;

  LinearModule(String layer, int in, int out, boolean biased, RandomSource random) {
    double bound = 1 / Math.sqrt(in);
    weight = Parameter.of(layer, "weight", random.uniform(-bound, bound, out, in));
    bias =
        biased
            ? Optional.of(Parameter.of(layer, "bias", random.uniform(-bound, bound, out)))
            : Optional.empty();
  }

  @Override
  public List<Parameter> parameters() {
    return bias.map(present -> List.of(weight, present)).orElse(List.of(weight));
  }

  @Override
  public Tensor forward(List<Tensor> inputs, ForwardPass pass) {
    Tensor input = inputs.get(0);
    long in = weight.value().extent(1);
    Tensor rows = input.extent(input.shape().length - 1) == in ? input : input.flattened(1);
    Tensor product = Functions.linear(rows, weight.value(), bias.map(Parameter::value));
    return pass.used(product, parameters().toArray(Parameter[]::new));
  }
}
