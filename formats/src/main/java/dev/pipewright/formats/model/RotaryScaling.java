package dev.pipewright.formats.model;

import java.util.OptionalDouble;

/**
 * How wavelengths of rotary positions are stretched for longer sequences than a network was first
 * trained on. Empty where the source does not state them.
 *
 * @param kind as Hugging Face's configurations call it, such as {@code llama3} or {@code yarn}
 * @param factor by which the longest wavelengths grow
 * @param lowFrequency wavelengths above {@code positions} divided by it grow fully
 * @param highFrequency wavelengths below {@code positions} divided by it stay
 * @param positions tokens of the sequences before
 */
public record RotaryScaling(
    String kind,
    OptionalDouble factor,
    OptionalDouble lowFrequency,
    OptionalDouble highFrequency,
    OptionalDouble positions) {
  /**
   * Of Llama 3.1 to 3.3, whose frequencies and positions Megatron-LM has built in.
   *
   * <p>Source: A. Dubey et al., <i>The Llama 3 herd of models</i>, arXiv:2407.21783, and its
   * released code.
   */
  public static RotaryScaling llama3(double factor) {
    return new RotaryScaling(
        "llama3",
        OptionalDouble.of(factor),
        OptionalDouble.of(1),
        OptionalDouble.of(4),
        OptionalDouble.of(8192));
  }

  /** Whether it is {@link #llama3} by some factor. */
  public boolean isLlama3() {
    return factor.isPresent() && equals(llama3(factor.getAsDouble()));
  }
}
