package dev.pipewright.runtime.engine;

import dev.pipewright.execution.UpdateRule;
import dev.pipewright.model.Optimizer;
import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.tensor.FusedUpdates;
import dev.pipewright.runtime.tensor.Gradients;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Applies a rule to parameters, with what it remembers of each: the step before under momentum, two
 * running averages under Adam. Formulas and order of operations are PyTorch's.
 */
public final class Updates implements AutoCloseable {
  /** Adam's shares of the averages so far, and what keeps it from dividing by 0. */
  private static final double[] SHARES = {0.9, 0.999};

  private static final double EPSILON = 1e-8;

  private final UpdateRule rule;
  private final int perParameter; // tensors that it remembers
  private final Map<String, List<Tensor>> moments = new LinkedHashMap<>(); // by parameter
  private long steps;

  public Updates(UpdateRule rule, List<Parameter> parameters) {
    this.rule = rule;
    this.perParameter =
        switch (rule.kind()) {
          case SGD -> 0;
          case MOMENTUM, RMSPROP -> 1;
          case ADAM -> 2;
        };
    for (Parameter parameter : parameters) {
      List<Tensor> own = new ArrayList<>(perParameter);
      try (Scope scope = new Scope()) {
        for (int i = 0; i < perParameter; i++) {
          own.add(scope.keep(Tensor.zeros(parameter.value().shape())));
        }
      }
      moments.put(parameter.name(), own);
    }
  }

  /** Steps taken so far. */
  long steps() {
    return steps;
  }

  /** Continues after so many steps. */
  void continueAfter(long before) {
    steps = before;
  }

  /** How many tensors the rule remembers of each parameter. */
  int perParameter() {
    return perParameter;
  }

  /** Adds what the rule remembers. */
  void count(LiveBytes live) {
    moments.values().forEach(own -> live.add(LiveBytes.Kind.OPTIMIZER, own));
  }

  /** What all of them take up. */
  long bytes() {
    return moments.values().stream().flatMap(List::stream).mapToLong(Tensor::bytes).sum();
  }

  /** What the rule remembers of a parameter. */
  List<Tensor> moments(String parameter) {
    return moments.getOrDefault(parameter, List.of());
  }

  /** One step of all parameters that have a gradient. */
  public void apply(List<Parameter> parameters) {
    ahead(parameters);
    steps++;
  }

  /** The next step of some parameters, before all others take it by {@link #apply}. */
  void ahead(List<Parameter> parameters) {
    try (Scope scope = new Scope()) {
      List<Tensor> values = new ArrayList<>();
      List<Tensor> gradients = new ArrayList<>();
      List<List<Tensor>> remembered = List.of(new ArrayList<>(), new ArrayList<>());
      for (Parameter parameter : parameters) {
        parameter
            .value()
            .gradient()
            .ifPresent(gradient -> {
              values.add(parameter.value());
              gradients.add(gradient);
              List<Tensor> own = moments(parameter.name());
              for (int i = 0; i < own.size(); i++) {
                remembered.get(i).add(own.get(i));
              }
            });
      }
      Gradients.without(() -> {
        apply(values, gradients, remembered);
        return null;
      });
    }
  }

  private void apply(List<Tensor> values, List<Tensor> gradients, List<List<Tensor>> remembered) {
    if (rule.kind() == Optimizer.ADAM) {
      FusedUpdates.adam(
          values,
          gradients,
          remembered.get(0),
          remembered.get(1),
          steps + 1,
          rule.rate(),
          SHARES,
          EPSILON,
          rule.decay());
    } else {
      FusedUpdates.descend(
          values, gradients, remembered.get(0), rule.rate(), rule.momentum(), rule.decay());
    }
  }

  @Override
  public void close() {
    moments.values().forEach(own -> own.forEach(Tensor::close));
  }
}
