package dev.pipewright.runtime.engine;

import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.tensor.Gradients;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.transport.Group;
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
  private final Group group;
  private final List<List<Parameter>> buckets;
  private final List<Tensor> memory = new ArrayList<>(); // of the buckets that have begun
  private final List<Pending> pending = new ArrayList<>();

  /**
   * @param buckets the parameters of each
   */
  GradientSums(Group group, List<List<Parameter>> buckets) {
    this.group = group;
    this.buckets = buckets;
  }

  /** Replaces a tensor of every worker by that of the first. */
  void takeFromFirst(Tensor tensor) {
    group.broadcast(tensor, 0).await();
  }

  int size() {
    return buckets.size();
  }

  /** Begins to sum a bucket over all workers. */
  void begin(int bucket) {
    List<Parameter> parameters = buckets.get(bucket);
    if (!parameters.isEmpty()) {
      Tensor together = Gradients.without(() -> moved(parameters));
      memory.add(together);
      pending.add(group.sum(together));
    }
  }

  /** Has gradients lie one behind the other; zeros where a worker had no samples. */
  private static Tensor moved(List<Parameter> parameters) {
    long size = parameters.stream().mapToLong(parameter -> parameter.value().elements()).sum();
    try (Scope scope = new Scope()) {
      Tensor together = scope.keep(Tensor.empty(size));
      long from = 0;
      for (Parameter parameter : parameters) {
        Tensor value = parameter.value();
        Tensor part = together.part(0, from, value.elements()).reshaped(value.shape());
        value.gradient().ifPresentOrElse(part::copyInPlace, part::zeroInPlace);
        value.setGradient(part);
        from += value.elements();
      }
      return together;
    }
  }

  /** Waits for all sums that have begun. */
  void finish() {
    pending.forEach(Pending::await);
    pending.clear();
  }

  /** Frees the sums, once their parameters have no gradient any more. */
  void clear() {
    memory.forEach(Tensor::close);
    memory.clear();
  }

  @Override
  public void close() {
    clear();
  }
}
