package dev.pipewright.runtime.data;

import dev.pipewright.runtime.tensor.Tensor;

/** Numbers on their way to a tensor: made in any thread, and without memory of the library's. */
public sealed interface HostValues {
  /** A {@linkplain Tensor#packed packed} tensor that belongs to the scope that is open. */
  Tensor tensor();

  /** Floating-point numbers in row-major order. */
  record Floating(float[] numbers, long... shape) implements HostValues {
    @Override
    public Tensor tensor() {
      try (Tensor rowMajor = Tensor.of(numbers, shape)) {
        return rowMajor.packed();
      }
    }
  }

  /** Whole numbers in row-major order: tokens or classes. */
  record Whole(long[] numbers, long... shape) implements HostValues {
    @Override
    public Tensor tensor() {
      return Tensor.ofWhole(numbers, shape);
    }
  }
}
