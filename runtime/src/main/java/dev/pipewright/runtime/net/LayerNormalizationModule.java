package dev.pipewright.runtime.net;

import dev.pipewright.runtime.tensor.Functions;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.List;

/** Normalisation of each row of features by itself. */
final class LayerNormalizationModule implements Module {
  private final Parameter scale;
  private final Parameter shift;

  LayerNormalizationModule(String prefix, int features, FirstValues values) {
    scale = values.ones(prefix + "scale", features);
    shift = values.zeros(prefix + "shift", features);
  }

  @Override
  public List<Parameter> parameters() {
    return List.of(scale, shift);
  }

  @Override
  public Tensor forward(List<Tensor> inputs, ForwardPass pass) {
    Tensor output = Functions.layerNormalization(inputs.get(0), scale.value(), shift.value());
    return pass.used(output, parameters());
  }
}
