package dev.pipewright.runtime.engine;

import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.transport.Group;
import dev.pipewright.runtime.transport.Pending;
import java.util.ArrayList;
import java.util.List;

/**
 * The gradients of a stage that several workers hold, bucket by bucket in one piece of memory each,
 * so that a bucket is one all-reduce. Backward passes add to that memory directly.
 */
final class GradientSums implements AutoCloseable {
  private final Group group;
  private final List<Bucket> buckets;
  private final List<Pending> pending = new ArrayList<>();

  private record Bucket(List<Parameter> parameters, Tensor memory, List<Tensor> views) {}

  /**
   * @param buckets the parameters of each
   */
  GradientSums(Group group, List<List<Parameter>> buckets) {
    this.group = group;
    this.buckets = buckets.stream().map(GradientSums::bucket).toList();
  }

  private static Bucket bucket(List<Parameter> parameters) {
    long size = parameters.stream().mapToLong(parameter -> parameter.value().elements()).sum();
    List<Tensor> views = new ArrayList<>();
    try (Scope scope = new Scope()) {
      Tensor memory = scope.keep(Tensor.zeros(size));
      long from = 0;
      for (Parameter parameter : parameters) {
        Tensor value = parameter.value();
        Tensor view = memory.part(0, from, value.elements()).reshaped(value.shape());
        views.add(scope.keep(view));
        value.setGradient(view);
        from += value.elements();
      }
      return new Bucket(parameters, memory, views);
    }
  }

  /** Replaces a tensor of every worker by that of the first. */
  void takeFromFirst(Tensor tensor) {
    group.broadcast(tensor, 0).await();
  }

  int size() {
    return buckets.size();
  }

  /** Whether a parameter's gradient is in one of the buckets. */
  boolean sums(Parameter parameter) {
    return buckets.stream().anyMatch(bucket -> bucket.parameters().contains(parameter));
  }

  /** Begins to sum a bucket over all workers. */
  void begin(int bucket) {
    if (buckets.get(bucket).memory().elements() > 0) {
      pending.add(group.sum(buckets.get(bucket).memory()));
    }
  }

  /** Waits for all sums that have begun. */
  void finish() {
    pending.forEach(Pending::await);
    pending.clear();
  }

  /** Begins a new step from zero. */
  void clear() {
    for (Bucket bucket : buckets) {
      bucket.memory().zeroInPlace();
    }
  }

  @Override
  public void close() {
    for (Bucket bucket : buckets) {
      bucket.parameters().forEach(parameter -> parameter.value().clearGradient());
      bucket.views().forEach(Tensor::close);
      bucket.memory().close();
    }
  }
}
