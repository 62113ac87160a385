package dev.pipewright.formats.export;

import dev.pipewright.formats.model.TransformerConstants;
import java.util.Optional;

/**
 * Megatron-LM's arguments of the function in feed-forward parts. It has gates of SiLU and of the
 * quick GELU, and without a gate GELU and the squared ReLU.
 *
 * <p>Source: Megatron-LM, {@code megatron/training/arguments.py}, of 2026.
 */
final class MegatronActivation {
  private static final String SILU = "silu";
  private static final String QUICK_GELU = "quick_gelu";
  private static final String SQUARED_RELU = "relu2";

  private MegatronActivation() {}

  /** Adds the argument with the network's sizes, whose function is another one where it must be. */
  static void add(Flags flags, TransformerConstants constants, boolean gated) {
    boolean quick = constants.activation().filter(QUICK_GELU::equals).isPresent();
    boolean squared = constants.activation().filter(SQUARED_RELU::equals).isPresent();
    flags
        .addIf(gated && !quick, "--swiglu")
        .addIf(gated && quick, "--quick-geglu")
        .addIf(!gated && squared, "--squared-relu");
  }

  /** A sentence on what the arguments do not state of the function. */
  static Optional<String> unstated(TransformerConstants constants, boolean gated) {
    return constants.activation().flatMap(function -> unstated(function, gated));
  }

  private static Optional<String> unstated(String function, boolean gated) {
    String shown = PythonText.inDocstring(function);
    if (gated && function.equals(QUICK_GELU)) {
      return Optional.of(
          "--quick-geglu neither clamps nor shifts: GPT-OSS also needs --activation-func-clamp-value 7 and --glu-linear-offset 1.");
    }
    if (gated && !function.equals(SILU) && !function.equals("swish")) {
      return Optional.of(
          "The network's gate is %s, for which Megatron-LM has no argument: --swiglu takes the same memory and products, but its gate is SiLU. Set activation_func of the TransformerConfig before you train."
              .formatted(shown));
    }
    if (!gated && !function.startsWith("gelu") && !function.equals(SQUARED_RELU)) {
      return Optional.of(
          "The network's activation is %s, for which Megatron-LM has no argument: it takes GELU. Set activation_func of the TransformerConfig before you train."
              .formatted(shown));
    }
    return Optional.empty();
  }
}
