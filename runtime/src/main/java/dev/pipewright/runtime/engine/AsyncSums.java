package dev.pipewright.runtime.engine;

import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Sums of a stage's gradients, one for each update in progress. Each lies in one block of memory
 * and is sent as one message.
 */
final class AsyncSums implements RelayedSums, AutoCloseable {
  private final List<Parameter> parameters;
  private final Map<Integer, Sum> sums = new HashMap<>(); // by update

  /**
   * @param views of the memory, by parameter
   */
  private record Sum(Tensor memory, List<Tensor> views) implements AutoCloseable {
    @Override
    public void close() {
      views.forEach(Tensor::close);
      memory.close();
    }
  }

  AsyncSums(List<Parameter> parameters) {
    this.parameters = parameters;
  }

  /** The sum of an update, all in one; at first 0. */
  @Override
  public Tensor of(int update) {
    return sum(update).memory();
  }

  private Sum sum(int update) {
    Sum sum = sums.get(update);
    if (sum == null) {
      try (Scope scope = new Scope()) {
        sum = seen(Tensor.zeros(size()));
      }
      sums.put(update, sum);
    }
    return sum;
  }

  @Override
  public Tensor room() {
    return Tensor.empty(size());
  }

  @Override
  public void add(int update, Tensor sum) {
    if (sums.containsKey(update)) {
      of(update).addInPlace(sum);
    } else {
      sums.put(update, seen(sum));
    }
  }

  private long size() {
    return size(parameters);
  }

  /** Numbers of a sum. */
  static long size(List<Parameter> parameters) {
    long elements = parameters.stream().mapToLong(p -> p.value().elements()).sum();
    return Math.max(1, elements); // a message is never empty
  }

  private Sum seen(Tensor memory) {
    List<Tensor> views = new ArrayList<>();
    try (Scope scope = new Scope()) {
      long from = 0;
      for (Parameter parameter : parameters) {
        Tensor value = parameter.value();
        views.add(scope.keep(memory.part(0, from, value.elements()).reshaped(value.shape())));
        from += value.elements();
      }
    }
    return new Sum(memory.shared(), views);
  }

  /** Makes an update's sum the parameters' gradients while something adds to it or reads it. */
  void with(int update, Runnable work) {
    List<Tensor> views = sum(update).views();
    for (int i = 0; i < views.size(); i++) {
      parameters.get(i).value().setGradient(views.get(i));
    }
    work.run();
    parameters.forEach(parameter -> parameter.value().clearGradient());
  }

  /** Adds all sums. */
  void count(LiveBytes live) {
    sums.values().forEach(sum -> live.add(LiveBytes.Kind.GRADIENTS, sum.memory()));
  }

  @Override
  public void forget(int update) {
    Sum sum = sums.remove(update);
    if (sum != null) {
      sum.close();
    }
  }

  @Override
  public void close() {
    sums.values().forEach(Sum::close);
    sums.clear();
  }
}
