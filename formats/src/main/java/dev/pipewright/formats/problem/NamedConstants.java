package dev.pipewright.formats.problem;

import dev.pipewright.formats.model.RotaryScaling;
import dev.pipewright.formats.model.TransformerConstants;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * The constants of decoders that have a name here, as their authors released them. Sizes of one's
 * own, like {@code llama:layers=4}, have none.
 *
 * <p>Sources: the papers that {@link dev.pipewright.zoo.Transformers} names, and the released
 * configurations.
 */
final class NamedConstants {
  private static final String SILU = "silu";

  private NamedConstants() {}

  static TransformerConstants of(String name) {
    if (name.contains(":")) {
      return TransformerConstants.NONE;
    }
    Optional<RotaryScaling> none = Optional.empty();
    return switch (name.replaceFirst("-.*", "")) {
      case "llama2" -> decoder(1e4, none, 1e-5, SILU);
      case "llama3" -> {
        boolean released = name.equals("llama3-405b"); // with Llama 3.1
        yield decoder(5e5, released ? Optional.of(RotaryScaling.llama3(8)) : none, 1e-5, SILU);
      }
      case "llama3.1" -> decoder(5e5, Optional.of(RotaryScaling.llama3(8)), 1e-5, SILU);
      case "mixtral" -> decoder(1e6, none, 1e-5, SILU);
      case "qwen3" -> decoder(1e6, none, 1e-6, SILU);
      case "deepseek" -> decoder(1e4, Optional.of(yarn(40)), 1e-6, SILU);
      case "gpt" ->
          name.startsWith("gpt-oss-")
              ? decoder(150_000, Optional.of(yarn(32)), 1e-5, "quick_gelu")
              : TransformerConstants.NONE;
      default -> TransformerConstants.NONE;
    };
  }

  /** A decoder that turns whole heads and drops nothing. */
  private static TransformerConstants decoder(
      double rotaryBase, Optional<RotaryScaling> scaling, double normEpsilon, String activation) {
    OptionalDouble never = OptionalDouble.of(0);
    return new TransformerConstants(
        OptionalDouble.of(rotaryBase),
        OptionalDouble.empty(),
        scaling,
        OptionalDouble.of(normEpsilon),
        never,
        never,
        Optional.of(activation));
  }

  /** From sequences of 4,096 tokens. */
  private static RotaryScaling yarn(double factor) {
    return new RotaryScaling(
        "yarn",
        OptionalDouble.of(factor),
        OptionalDouble.empty(),
        OptionalDouble.empty(),
        OptionalDouble.of(4096));
  }
}
