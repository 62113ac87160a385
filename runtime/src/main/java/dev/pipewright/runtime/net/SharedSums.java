package dev.pipewright.runtime.net;

import dev.pipewright.runtime.tensor.GradientHook;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.IdentityHashMap;

/**
 * Sums over workers as a step of the history. If every worker's loss depends on a sum of all
 * workers' numbers, then the gradient of each of these numbers is the sum of all workers' gradients
 * of the sum; so the backward pass sums too, and all workers run it in the same order.
 */
final class SharedSums {
  private final IdentityHashMap<SharedStatistics, GradientHook> hooks = new IdentityHashMap<>();

  /** The sum of what all workers hand in; it has the same bits on all of them. */
  Tensor of(Tensor own, SharedStatistics statistics) {
    Tensor sum = own.detached().copy();
    statistics.sumInPlace(sum);
    Tensor result = own.minus(own.detached()).plus(sum); // zero plus the sum: exact
    return result.hasGradient() ? hook(statistics).on(result) : result;
  }

  private GradientHook hook(SharedStatistics statistics) {
    return hooks.computeIfAbsent(
        statistics,
        with ->
            new GradientHook(gradient -> {
              Tensor sum = gradient.copy();
              with.sumInPlace(sum);
              return sum;
            }));
  }
}
