package dev.pipewright.runtime.engine;

import dev.pipewright.runtime.net.Network;
import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.net.Tied;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A stage's parameters as one sequence of elements. A table that two layers of the stage read is
 * one parameter of it, whose gradients are summed in one tensor.
 *
 * @param own parameters, one after another
 * @param aliases the second parameter of each such table, with the first, which is among the own
 */
record FlatParameters(List<Parameter> own, Map<Parameter, Parameter> aliases) {
  static FlatParameters of(List<Parameter> parameters, Network network) {
    Map<String, Parameter> byName = new LinkedHashMap<>();
    parameters.forEach(parameter -> byName.put(parameter.name(), parameter));
    Map<Parameter, Parameter> aliases = new LinkedHashMap<>();
    for (Tied tied : network.tied()) {
      Parameter table = byName.get(tied.parameter());
      Parameter alias = byName.get(tied.copy());
      if (table != null && alias != null) {
        aliases.put(alias, table);
      }
    }
    List<Parameter> own = parameters.stream().filter(p -> !aliases.containsKey(p)).toList();
    return new FlatParameters(own, aliases);
  }

  static long elements(List<Parameter> parameters) {
    return parameters.stream().mapToLong(parameter -> parameter.value().elements()).sum();
  }

  /** The elements of a block for all parameters; a block is sent, and a message is never empty. */
  long elements() {
    return Math.max(1, elements(own));
  }

  /** The place of a parameter's first element. */
  long place(Parameter parameter) {
    return elements(own.subList(0, own.indexOf(parameter)));
  }

  /** Views of a block, by parameter; they live until they are closed. */
  List<Tensor> views(Tensor block) {
    return views(block, own);
  }

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

  /** Makes views of a block the parameters' gradients while some work runs. */
  void withGradients(List<Tensor> views, Runnable work) {
    for (int i = 0; i < views.size(); i++) {
      own.get(i).value().setGradient(views.get(i));
    }
    aliases.forEach((alias, table) -> alias.value().setGradient(views.get(own.indexOf(table))));
    work.run();
    own.forEach(parameter -> parameter.value().clearGradient());
    aliases.keySet().forEach(alias -> alias.value().clearGradient());
  }
}
