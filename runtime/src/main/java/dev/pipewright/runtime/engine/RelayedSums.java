package dev.pipewright.runtime.engine;

import dev.pipewright.runtime.tensor.Tensor;

/** Sums of a stage's gradients that go from turn to turn, one for each update under way. */
interface RelayedSums {
  /** The sum of an update, all in one. */
  Tensor of(int update);

  /** Room for one. It belongs to the scope that is open. */
  Tensor room();

  /** Adds what others have added up. */
  void add(int update, Tensor sum);

  void forget(int update);
}
