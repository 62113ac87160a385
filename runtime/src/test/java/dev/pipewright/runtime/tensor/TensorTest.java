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

  @Test
  void entriesAreThoseAlongTheAxisAndGiveTheirGradientsBackThere() {
    try (Scope scope = new Scope()) {
      Tensor all = Tensor.of(new float[] {1, 2, 3, 4, 5, 6}, 2, 3).withGradient();
      List<Tensor> columns = all.entries(1);
      assertArrayEquals(new float[] {2, 5}, columns.get(1).toFloats());
      assertArrayEquals(new float[] {3, 6}, columns.get(2).toFloats());
      Gradients.add(
          List.of(columns.get(0), columns.get(2)),
          List.of(Tensor.of(new float[] {7, 8}, 2), Tensor.of(new float[] {-1, -2}, 2)));
      assertArrayEquals(new float[] {7, 0, -1, 8, 0, -2}, all.gradient().orElseThrow().toFloats());
    }
  }
}
