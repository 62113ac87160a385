package dev.pipewright.runtime.net;

import dev.pipewright.model.Layer;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.List;

/** As many parameters as a layer has, which nobody computes with. */
final class Weight implements Module {
  private final List<Parameter> parameters;

  Weight(Layer layer) {
    parameters =
        layer.parameters() == 0
            ? List.of()
            : List.of(new Parameter(layer.name(), Tensor.empty(layer.parameters()).withGradient()));
  }

  @Override
  public List<Parameter> parameters() {
    return parameters;
  }

  @Override
  public Tensor forward(List<Tensor> inputs, ForwardPass pass) {
    throw new IllegalStateException("a network of sizes alone cannot compute");
  }
}
