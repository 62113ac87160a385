package dev.pipewright.runtime.net;

import dev.pipewright.runtime.tensor.Tensor;

/**
 * Sums over the samples of a micro-batch that several workers hold, for normalisations that take
 * their averages over all of them.
 */
public interface SharedStatistics {
  /** Every worker takes the averages of its own samples. */
  SharedStatistics OWN =
      new SharedStatistics() {
        @Override
        public boolean shared() {
          return false;
        }

        @Override
        public void sumInPlace(Tensor tensor) {
          // its own sum is the whole sum
        }
      };

  /** Whether others take part. */
  boolean shared();

  /** Replaces a tensor by its sum over all workers, which all call this in the same order. */
  void sumInPlace(Tensor tensor);
}
