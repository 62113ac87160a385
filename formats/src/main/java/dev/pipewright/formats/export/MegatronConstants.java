package dev.pipewright.formats.export;

import dev.pipewright.formats.model.RotaryScaling;
import dev.pipewright.formats.model.TransformerConstants;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;

/**
 * Megatron-LM's arguments of a network's constants, and its defaults of those that the network's
 * source does not state.
 *
 * <p>Source: Megatron-LM, {@code megatron/training/arguments.py}, of 2026; {@code --rotary-base} is
 * a whole number there.
 */
final class MegatronConstants {
  private static final String BASE = "--rotary-base";
  private static final String EPSILON = "--norm-epsilon";
  private static final String ATTENTION = "--attention-dropout";
  private static final String HIDDEN = "--hidden-dropout";

  private MegatronConstants() {}

  static void add(Flags flags, TransformerConstants constants, boolean rotary) {
    if (rotary) {
      flags.addIf(base(constants), BASE).addIf(constants.rotaryShare(), "--rotary-percent");
      constants
          .rotaryScaling()
          .filter(RotaryScaling::isLlama3)
          .ifPresent(scaling ->
              flags.add("--use-rope-scaling").addIf(scaling.factor(), "--rope-scaling-factor"));
    }
    flags
        .addIf(constants.normEpsilon(), EPSILON)
        .addIf(constants.attentionDropout(), ATTENTION)
        .addIf(constants.hiddenDropout(), HIDDEN);
  }

  private static OptionalDouble base(TransformerConstants constants) {
    OptionalDouble base = constants.rotaryBase();
    return base.isPresent() && base.getAsDouble() == Math.rint(base.getAsDouble())
        ? base
        : OptionalDouble.empty();
  }

  /** Sentences on what the arguments do not state. */
  static List<String> unstated(TransformerConstants constants, boolean rotary) {
    List<String> flags = new ArrayList<>();
    if (rotary && base(constants).isEmpty()) {
      flags.add(BASE + " (by default 10000)");
    }
    if (constants.normEpsilon().isEmpty()) {
      flags.add(EPSILON + " (1e-5)");
    }
    if (constants.attentionDropout().isEmpty()) {
      flags.add(ATTENTION + " (0.1)");
    }
    if (constants.hiddenDropout().isEmpty()) {
      flags.add(HIDDEN + " (0.1)");
    }
    List<String> sentences = new ArrayList<>();
    if (!flags.isEmpty()) {
      sentences.add(
          "The network's source does not state %s: add those whose defaults do not fit."
              .formatted(String.join(", ", flags)));
    }
    if (rotary) {
      constants
          .rotaryScaling()
          .filter(scaling -> !scaling.isLlama3())
          .ifPresent(scaling ->
              sentences.add(
                  "The network scales rotary positions (%s), which is not written: add it."
                      .formatted(PythonText.inDocstring(scaling.kind()))));
    }
    return sentences;
  }
}
