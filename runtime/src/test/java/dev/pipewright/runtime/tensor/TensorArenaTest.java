package dev.pipewright.runtime.tensor;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TensorArenaTest {
  private static final float[] NUMBERS = {1, 2, 3, 4, 5, 6};

  @AfterEach
  void forget() {
    Torch.start(1);
  }

  /** Also where new tensors are filled, as processes have it that measure their memory. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void takenMemoryIsTheSameWithTheSameNumbers(boolean filling) {
    Torch.start(1);
    if (filling) {
      Torch.fillNewMemory();
    }
    try (Scope scope = new Scope()) {
      Tensor from = Tensor.of(NUMBERS, 2, 3);
      long memory = History.memory(from);
      Tensor taken = TensorArena.taken(from);
      assertArrayEquals(new long[] {2, 3}, taken.shape());
      assertArrayEquals(NUMBERS, taken.toFloats());
      assertEquals(memory, History.memory(taken));
      assertEquals((long) NUMBERS.length * Float.BYTES, TensorArena.bytes(taken));
      assertEquals(0, TensorArena.bytes(from));
    }
  }

  @Test
  void whatHasGivenItsMemoryAwayCanHaveItBack() {
    Torch.start(1);
    try (Scope scope = new Scope()) {
      Tensor from = Tensor.of(NUMBERS, 6);
      Tensor taken = TensorArena.taken(from);
      TensorArena.move(taken, from);
      assertArrayEquals(NUMBERS, from.toFloats());
      assertEquals(0, TensorArena.bytes(taken));
    }
  }
}
