package dev.pipewright.runtime.net;

import dev.pipewright.model.transformer.NormShape;
import dev.pipewright.runtime.tensor.Functions;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.List;
import java.util.Optional;

/** Normalisation of the features of each state, or of each head of it. */
final class StateNormalization {
  private StateNormalization() {}

  static Module of(NormShape shape, String prefix, int features, FirstValues values) {
    return switch (shape) {
      case LAYER -> new LayerNormalizationModule(prefix, features, values);
      case RMS -> new RootMeanSquare(values.ones(prefix + "scale", features));
      case PLAIN -> (inputs, pass) -> Functions.layerNormalization(inputs.get(0));
    };
  }

  /** Division by root mean squares alone. */
  static Module plainRootMeanSquare() {
    return (inputs, pass) -> Functions.rootMeanSquare(inputs.get(0), Optional.empty());
  }

  /** B. Zhang and R. Sennrich, <i>Root mean square layer normalization</i>, NeurIPS 2019. */
  private record RootMeanSquare(Parameter scale) implements Module {
    @Override
    public List<Parameter> parameters() {
      return List.of(scale);
    }

    @Override
    public Tensor forward(List<Tensor> inputs, ForwardPass pass) {
      Tensor output = Functions.rootMeanSquare(inputs.get(0), Optional.of(scale.value()));
      return pass.used(output, parameters());
    }
  }
}
