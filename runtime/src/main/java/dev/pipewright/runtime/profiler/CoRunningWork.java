package dev.pipewright.runtime.profiler;

import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;

/**
 * What workers compute before they turn to each other, as in training: products with weights that
 * are larger than most caches, so that what is exchanged has to come from memory again.
 */
final class CoRunningWork implements AutoCloseable {
  private static final long ROWS = 32;
  private static final long FEATURES = 1024;
  static final int PIECES = 4;

  private final Tensor input;
  private final List<Tensor> weights = new ArrayList<>();

  CoRunningWork() {
    try (Scope scope = new Scope()) {
      input = scope.keep(Tensor.ones(ROWS, FEATURES));
      for (int i = 0; i < PIECES; i++) {
        weights.add(scope.keep(Tensor.ones(FEATURES, FEATURES)));
      }
    }
  }

  /** All of it. */
  void whole() {
    compute(weights);
  }

  /** Computes half of the work, so that the others still compute when this worker has finished. */
  void half() {
    compute(weights.subList(0, PIECES / 2));
  }

  /** One of {@link #PIECES}. */
  void piece(int number) {
    compute(weights.subList(number, number + 1));
  }

  private void compute(List<Tensor> with) {
    try (Scope scope = new Scope()) {
      with.forEach(input::product);
    }
  }

  @Override
  public void close() {
    input.close();
    weights.forEach(Tensor::close);
  }
}
