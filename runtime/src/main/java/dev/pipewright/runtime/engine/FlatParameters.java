package dev.pipewright.runtime.engine;

import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;

/** Tensors like some parameters, one after another in one block of memory. */
final class FlatParameters {
  private FlatParameters() {}

  static long elements(List<Parameter> parameters) {
    return parameters.stream().mapToLong(parameter -> parameter.value().elements()).sum();
  }

  /** The elements of a block that is a message, which is never empty. */
  static long messageElements(List<Parameter> parameters) {
    return Math.max(1, elements(parameters));
  }

  /** Views of a block, by parameter; they live until they are closed. */
  static List<Tensor> views(Tensor block, List<Parameter> parameters) {
    List<Tensor> views = new ArrayList<>();
    try (Scope scope = new Scope()) {
      long from = 0;
      for (Parameter parameter : parameters) {
        Tensor value = parameter.value();
        views.add(scope.keep(block.part(0, from, value.elements()).reshaped(value.shape())));
        from += value.elements();
      }
    }
    return views;
  }

  /** Makes views of a block the gradients of the parameters while some work runs. */
  static void withGradients(List<Tensor> views, List<Parameter> parameters, Runnable work) {
    for (int i = 0; i < views.size(); i++) {
      parameters.get(i).value().setGradient(views.get(i));
    }
    work.run();
    parameters.forEach(parameter -> parameter.value().clearGradient());
  }
}
