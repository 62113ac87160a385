package dev.pipewright.runtime.tensor;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.runtime.training.ProcessMemory;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class GradientHookTest {
  private static final int STEPS = 96; // the system's allocator may keep a few gradients for later
  private static final long ELEMENTS = 1 << 20;
  private static final long BYTES = 4 * ELEMENTS;

  @Test
  void changesWhatPassesThrough() {
    try (GradientHook hook = new GradientHook(gradient -> gradient.times(3));
        Scope scope = new Scope()) {
      Tensor leaf = Tensor.ones(2).withGradient();
      Tensor output = hook.on(hook.on(leaf.passed()).passed());
      Gradients.add(List.of(output), List.of(Tensor.ones(2)));
      assertArrayEquals(new float[] {9, 9}, leaf.gradient().orElseThrow().toFloats());
    }
  }

  @Test
  void nothingIsLeftOfAPass() {
    List<Tensor> handedOn = new ArrayList<>();
    try (GradientHook hook =
            new GradientHook(gradient -> {
              handedOn.add(gradient.times(3));
              return handedOn.get(handedOn.size() - 1);
            });
        Scope scope = new Scope()) {
      Tensor leaf = Tensor.ones(2).withGradient();
      Gradients.add(List.of(hook.on(leaf.passed())), List.of(Tensor.ones(2)));
      Tensor found =
          Gradients.of(
                  List.of(hook.on(leaf.passed())), List.of(Tensor.ones(2)), List.of(leaf), false)
              .get(0);
      assertEquals(2, handedOn.size());
      handedOn.forEach(tensor -> assertTrue(tensor.handle().isNull()));
      assertArrayEquals(new float[] {3, 3}, leaf.gradient().orElseThrow().toFloats());
      assertArrayEquals(new float[] {3, 3}, found.toFloats());
    }
  }

  /** All steps belong to one scope, but each gradient is read by the step behind it only. */
  @Test
  void gradientsEndWithTheirStep() {
    List<Long> memory = new ArrayList<>();
    try (GradientHook hook =
            new GradientHook(gradient -> {
              memory.add(ProcessMemory.now());
              return gradient.copy();
            });
        Scope scope = new Scope()) {
      Tensor leaf = Tensor.ones(ELEMENTS).withGradient();
      Tensor output = leaf;
      for (int step = 0; step < STEPS; step++) {
        output = hook.on(output.passed());
      }
      Gradients.add(List.of(output), List.of(Tensor.ones(ELEMENTS)));
    }
    assertEquals(STEPS, memory.size());
    long grown = memory.get(STEPS - 1) - memory.get(0);
    assertTrue(grown < STEPS * BYTES / 2, "grown by " + grown);
  }
}
