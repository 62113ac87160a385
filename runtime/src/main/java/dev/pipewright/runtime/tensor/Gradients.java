package dev.pipewright.runtime.tensor;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.bytedeco.pytorch.AutoGradMode;
import org.bytedeco.pytorch.BoolOptional;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.global.torch;

/** Backward passes over the history of tensors. */
public final class Gradients {
  private Gradients() {}

  /** Computes without a history: nothing is kept for a backward pass. */
  public static <T> T without(Supplier<T> computation) {
    return inMode(false, computation);
  }

  /** Computes with a history, also inside {@link #without}. */
  public static <T> T with(Supplier<T> computation) {
    return inMode(true, computation);
  }

  private static <T> T inMode(boolean recording, Supplier<T> computation) {
    AutoGradMode mode = new AutoGradMode(recording);
    try {
      return computation.get();
    } finally {
      mode.deallocate(); // its end sets the mode from before again, so it cannot wait for a scope's
    }
  }

  /**
   * Adds the gradients of all leaves that {@code outputs} depend on to them, and frees the history.
   *
   * @param gradients of the outputs, one for each
   */
  public static void add(List<Tensor> outputs, List<Tensor> gradients) {
    add(outputs, gradients, List.of(), false);
  }

  /**
   * Adds the gradients of these leaves only; nothing is computed that they do not need.
   *
   * @param leaves none for all
   * @param again whether the history is needed for another pass
   */
  public static void add(
      List<Tensor> outputs, List<Tensor> gradients, List<Tensor> leaves, boolean again) {
    try {
      torch.backward(
          Tensor.vector(outputs),
          Tensor.vector(gradients),
          new BoolOptional(again),
          false,
          Tensor.vector(leaves));
    } finally {
      GradientHook.passEnds();
    }
  }

  /**
   * The gradients of {@code inputs}, which may lie anywhere in the history of {@code outputs}; none
   * is added up.
   *
   * @param again whether the history is needed for another pass
   */
  public static List<Tensor> of(
      List<Tensor> outputs, List<Tensor> gradients, List<Tensor> inputs, boolean again) {
    try {
      TensorVector found =
          torch.grad(
              Tensor.vector(outputs),
              Tensor.vector(inputs),
              Tensor.vector(gradients),
              new BoolOptional(again),
              false,
              false);
      List<Tensor> result = new ArrayList<>(inputs.size());
      for (int i = 0; i < inputs.size(); i++) {
        result.add(Tensor.shared(found.get(i))); // the vector ends with the scope
      }
      return result;
    } finally {
      GradientHook.passEnds();
    }
  }
}
