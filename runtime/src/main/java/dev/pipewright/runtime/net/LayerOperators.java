package dev.pipewright.runtime.net;

import dev.pipewright.runtime.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;

/**
 * The operators of a layer in order. The first reads what the layer reads; each further one the
 * result so far, followed by what the layer reads.
 */
record LayerOperators(List<Module> modules) implements Module {
  @Override
  public List<Parameter> parameters() {
    return modules.stream().flatMap(module -> module.parameters().stream()).toList();
  }

  @Override
  public List<Parameter> averages() {
    return modules.stream().flatMap(module -> module.averages().stream()).toList();
  }

  @Override
  public Tensor forward(List<Tensor> inputs, ForwardPass pass) {
    Tensor value = modules.get(0).forward(inputs, pass);
    for (Module module : modules.subList(1, modules.size())) {
      List<Tensor> all = new ArrayList<>(inputs);
      all.add(0, value);
      value = module.forward(all, pass);
    }
    return value;
  }
}
