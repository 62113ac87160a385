package dev.pipewright.runtime.engine;

import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Sums of a stage's gradients, one for each update in progress. Each lies in one block of memory
 * and is sent as one message.
 */
final class AsyncSums implements AutoCloseable {
  private final FlatParameters parameters;
  private final @Nullable Tensor untouched; // all sums of an emulated worker
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

  /**
   * @param emulated all sums are the same memory, which is sent but never read
   */
  AsyncSums(FlatParameters parameters, boolean emulated) {
    this.parameters = parameters;
    try (Scope scope = new Scope()) {
      this.untouched = emulated ? scope.keep(Tensor.empty(parameters.elements())) : null;
    }
  }

  /** The sum of an update in one piece; at first 0. */
  Tensor of(int update) {
    return sum(update).memory();
  }

  private Sum sum(int update) {
    Sum sum = sums.get(update);
    if (sum == null) {
      try (Scope scope = new Scope()) {
        sum = seen(untouched == null ? Tensor.zeros(parameters.elements()) : untouched);
      }
      sums.put(update, sum);
    }
    return sum;
  }

  /** Room for a sum that arrives. It belongs to the scope that is open. */
  Tensor room() {
    return untouched == null ? Tensor.empty(parameters.elements()) : untouched.lent();
  }

  /** Adds a sum of other workers. */
  void add(int update, Tensor sum) {
    if (!sums.containsKey(update)) {
      sums.put(update, seen(sum));
    } else if (untouched == null) {
      of(update).addInPlace(sum);
    }
  }

  private Sum seen(Tensor memory) {
    List<Tensor> views = untouched == null ? parameters.views(memory) : List.of();
    return new Sum(memory.shared(), views);
  }

  /** Makes an update's sum the parameters' gradients while something adds to it or reads it. */
  void with(int update, Runnable work) {
    List<Tensor> views = sum(update).views();
    if (untouched == null) {
      parameters.withGradients(views, work);
    } else {
      work.run();
    }
  }

  void scale(int update, double factor) {
    if (untouched == null) {
      of(update).scaleInPlace(factor);
    }
  }

  /** Adds all sums. */
  void count(LiveBytes live) {
    sums.values().forEach(sum -> live.add(LiveBytes.Kind.GRADIENTS, sum.memory()));
  }

  void forget(int update) {
    Sum sum = sums.remove(update);
    if (sum != null) {
      sum.close();
    }
  }

  @Override
  public void close() {
    sums.values().forEach(Sum::close);
    sums.clear();
    if (untouched != null) {
      untouched.close();
    }
  }
}
