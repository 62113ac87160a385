package dev.pipewright.runtime.net;

import dev.pipewright.model.Layer;
import dev.pipewright.model.Operator;
import dev.pipewright.runtime.tensor.Functions;
import dev.pipewright.runtime.tensor.RandomSource;
import dev.pipewright.units.Check;

/** The module of each operator. */
final class Modules {
  private Modules() {}

  /**
   * The layer, ready to compute.
   *
   * @param random draws the first values of its parameters, and nothing else draws from it
   * @throws IllegalArgumentException with a sentence for the user where a layer cannot be run
   */
  static Module of(Layer layer, RandomSource random) {
    return switch (layer.operator()) {
      case Operator.Input() -> (inputs, pass) -> inputs.get(0);
      case Operator.Linear(int in, int out, boolean bias) ->
          new LinearModule(layer.name(), in, out, bias, random);
      case Operator.Elementwise(String function) when function.equals("relu") ->
          (inputs, pass) -> Functions.relu(inputs.get(0));
      default -> {
        Check.that(false, "layer %s cannot be run: %s", layer.name(), layer.operator());
        throw new IllegalStateException();
      }
    };
  }
}
