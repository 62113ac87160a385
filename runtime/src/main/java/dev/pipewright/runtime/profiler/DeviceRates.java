package dev.pipewright.runtime.profiler;

import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.function.LongSupplier;

/**
 * How fast a worker computes and copies at best.
 *
 * @param flops of a product of large matrices
 * @param bytesPerSecond read and written by a copy of what no cache holds
 */
record DeviceRates(double flops, double bytesPerSecond) {
  private static final long ROWS = 1024;
  private static final long COPIED = 1L << 24; // numbers
  private static final int REPEATS = 5;

  static DeviceRates measure(LongSupplier clock) {
    double product = Double.POSITIVE_INFINITY;
    double copy = Double.POSITIVE_INFINITY;
    try (Scope all = new Scope()) {
      Tensor matrix = Tensor.ones(ROWS, ROWS);
      Tensor from = Tensor.ones(COPIED);
      Tensor to = Tensor.zeros(COPIED);
      for (int i = 0; i < REPEATS; i++) {
        product =
            Math.min(
                product,
                seconds(
                    clock,
                    () -> {
                      try (Scope scope = new Scope()) {
                        matrix.product(matrix);
                      }
                    }));
        copy = Math.min(copy, seconds(clock, () -> to.copyInPlace(from)));
      }
      return new DeviceRates(2.0 * ROWS * ROWS * ROWS / product, 2.0 * from.bytes() / copy);
    }
  }

  private static double seconds(LongSupplier clock, Runnable work) {
    long begin = clock.getAsLong();
    work.run();
    return (clock.getAsLong() - begin) / 1e9;
  }
}
