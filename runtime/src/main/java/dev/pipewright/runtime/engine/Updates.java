package dev.pipewright.runtime.engine;

import dev.pipewright.execution.TrainingRequest.UpdateRule;
import dev.pipewright.model.Optimizer;
import dev.pipewright.runtime.net.Parameter;
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
  private static final double FIRST = 0.9;

  private static final double SECOND = 0.999;
  private static final double EPSILON = 1e-8;

  private final UpdateRule rule;
  private final Map<String, List<Tensor>> moments = new LinkedHashMap<>(); // by parameter
  private long steps;

  public Updates(UpdateRule rule, List<Parameter> parameters) {
    this.rule = rule;
    int count =
        switch (rule.kind()) {
          case SGD -> 0;
          case MOMENTUM, RMSPROP -> 1;
          case ADAM -> 2;
        };
    for (Parameter parameter : parameters) {
      List<Tensor> own = new ArrayList<>(count);
      try (Scope scope = new Scope()) {
        for (int i = 0; i < count; i++) {
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

  /** Goes on behind so many steps. */
  void continueAfter(long before) {
    steps = before;
  }

  /** What the rule remembers of a parameter. */
  List<Tensor> moments(String parameter) {
    return moments.getOrDefault(parameter, List.of());
  }

  /** One step of all parameters that have a gradient. */
  public void apply(List<Parameter> parameters) {
    steps++;
    Gradients.without(() -> {
      parameters.forEach(this::apply);
      return null;
    });
  }

  private void apply(Parameter parameter) {
    try (Scope scope = new Scope()) {
      parameter.value().gradient().ifPresent(gradient -> apply(parameter, gradient));
    }
  }

  private void apply(Parameter parameter, Tensor raw) {
    Tensor value = parameter.value();
    Tensor gradient = rule.decay() == 0 ? raw : raw.copy().addInPlace(value, rule.decay());
    List<Tensor> own = moments(parameter.name());
    if (rule.kind() == Optimizer.ADAM) {
      adam(value, gradient, own.get(0), own.get(1));
    } else if (rule.kind() == Optimizer.MOMENTUM) {
      own.get(0).scaleInPlace(rule.momentum()).addInPlace(gradient);
      value.addInPlace(own.get(0), -rule.rate());
    } else {
      value.addInPlace(gradient, -rule.rate());
    }
  }

  private void adam(Tensor value, Tensor gradient, Tensor first, Tensor second) {
    first.scaleInPlace(FIRST).addInPlace(gradient, 1 - FIRST);
    second.scaleInPlace(SECOND).addProductInPlace(gradient, gradient, 1 - SECOND);
    double firstShare = 1 - Math.pow(FIRST, (double) steps);
    double secondShare = 1 - Math.pow(SECOND, (double) steps);
    Tensor divisor = second.root(Math.sqrt(secondShare), EPSILON);
    value.addQuotientInPlace(first, divisor, -rule.rate() / firstShare);
  }

  @Override
  public void close() {
    moments.values().forEach(own -> own.forEach(Tensor::close));
  }
}
