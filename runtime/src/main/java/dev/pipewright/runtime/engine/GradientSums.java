package dev.pipewright.runtime.engine;

import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.transport.Pending;
import java.util.ArrayList;
import java.util.List;

/**
 * The gradients of a stage that several workers hold, summed bucket by bucket. Once a bucket's
 * gradients are complete they move into one piece of memory, so that a bucket is one all-reduce;
 * until then they are what backward passes have left, which need neither be cleared nor added to
 * for the first one.
 */
final class GradientSums implements AutoCloseable {
  private final Summing summing;
  private final List<Bucket> buckets;
  private final List<Pending> pending = new ArrayList<>();

  /**
   * @param views of the memory, by parameter
   */
  private record Bucket(List<Parameter> parameters, Tensor memory, List<Tensor> views) {}

  /**
   * @param buckets the parameters of each
   */
  GradientSums(Summing summing, List<List<Parameter>> buckets) {
    this.summing = summing;
    this.buckets = buckets.stream().map(this::bucket).toList();
  }

  private Bucket bucket(List<Parameter> parameters) {
    long numbers = FlatParameters.elements(parameters);
    long size = Math.ceilDiv(numbers, summing.divisor()) * summing.divisor();
    try (Scope scope = new Scope()) {
      Tensor memory = scope.keep(size > numbers ? Tensor.zeros(size) : Tensor.empty(size));
      return new Bucket(parameters, memory, FlatParameters.views(memory, parameters));
    }
  }

  /** What all buckets take up, also between steps. */
  long bytes() {
    return buckets.stream().mapToLong(bucket -> bucket.memory().bytes()).sum();
  }

  /** Adds the memory of all buckets. */
  void count(LiveBytes live) {
    buckets.forEach(bucket -> live.add(LiveBytes.Kind.GRADIENTS, bucket.memory()));
  }

  /** Begins to sum a bucket over all workers. */
  void begin(int number) {
    Bucket bucket = buckets.get(number);
    if (!bucket.parameters().isEmpty()) {
      move(bucket);
      pending.add(summing.sum(bucket.memory()));
    }
  }

  /** Puts gradients one after the other in memory; zeros where a worker had no samples. */
  private static void move(Bucket bucket) {
    for (int i = 0; i < bucket.views().size(); i++) {
      Tensor value = bucket.parameters().get(i).value();
      Tensor view = bucket.views().get(i);
      try (Scope scope = new Scope()) { // which frees what has moved
        value.gradient().ifPresentOrElse(view::copyInPlace, view::zeroInPlace);
        value.setGradient(view);
      }
    }
  }

  /** Waits for all sums that have begun. */
  void finish() {
    pending.forEach(Pending::await);
    pending.clear();
  }

  @Override
  public void close() {
    for (Bucket bucket : buckets) {
      bucket.views().forEach(Tensor::close);
      bucket.memory().close();
    }
  }
}
