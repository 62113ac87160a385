package dev.pipewright.runtime.tensor;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

class TensorTest {
  /** Two vectors that are added to one row get the row's gradient itself. */
  @Test
  void gradientsThatShareMemoryAreAddedUpApart() {
    try (Scope scope = new Scope()) {
      Tensor one = Tensor.ones(3).withGradient();
      Tensor other = Tensor.ones(3).withGradient();
      for (float pass = 1; pass <= 2; pass++) {
        Tensor row = one.reshaped(1, 3).plus(other.reshaped(1, 3));
        Gradients.add(List.of(row), List.of(Tensor.of(new float[] {pass, 0, -pass}, 1, 3)));
        one.ownGradient();
        other.ownGradient();
      }
      float[] sum = {3, 0, -3};
      assertArrayEquals(sum, one.gradient().orElseThrow().toFloats());
      assertArrayEquals(sum, other.gradient().orElseThrow().toFloats());
    }
  }
}
