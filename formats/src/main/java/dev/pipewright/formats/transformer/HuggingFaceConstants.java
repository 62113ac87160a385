package dev.pipewright.formats.transformer;

import dev.pipewright.formats.json.Node;
import dev.pipewright.formats.model.RotaryScaling;
import dev.pipewright.formats.model.TransformerConstants;
import dev.pipewright.model.transformer.NormShape;
import dev.pipewright.model.transformer.TransformerShape;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.DoublePredicate;

/**
 * Constants of a Hugging Face configuration under the names that its families give them. A value
 * that is no number in range is left out, as one that the file does not state.
 *
 * <p>Source: {@code configuration_*.py} of the transformers library; release 5 gathers those of
 * rotary positions in {@code rope_parameters}.
 */
final class HuggingFaceConstants {
  private static final List<String> ROTARY = List.of("rope_parameters", "rope_scaling");
  private static final List<String> BASE = List.of("rope_theta", "rotary_emb_base");
  private static final List<String> SHARE = List.of("partial_rotary_factor", "rotary_pct");
  private static final List<String> EPSILON =
      List.of("rms_norm_eps", "layer_norm_epsilon", "layer_norm_eps", "norm_epsilon", "norm_eps");
  private static final List<String> ATTENTION =
      List.of("attention_dropout", "attn_pdrop", "attention_probs_dropout_prob", "dropout_rate");
  private static final List<String> HIDDEN =
      List.of(
          "hidden_dropout",
          "resid_pdrop",
          "hidden_dropout_prob",
          "residual_dropout",
          "dropout_rate",
          "dropout");
  private static final List<String> ACTIVATION =
      List.of("hidden_activation", "hidden_act", "activation_function");

  private HuggingFaceConstants() {}

  /**
   * Those of a network.
   *
   * @param sizes the object with the network's sizes
   */
  static TransformerConstants of(Node sizes, TransformerShape shape) {
    OptionalDouble hidden = first(sizes, HIDDEN, HuggingFaceConstants::isProbability);
    return new TransformerConstants(
        rotary(sizes, BASE, value -> value > 0),
        rotary(sizes, SHARE, value -> value > 0 && value <= 1),
        scaling(sizes),
        first(sizes, EPSILON, value -> value > 0),
        first(sizes, ATTENTION, HuggingFaceConstants::isProbability),
        hidden.isEmpty() && hasNone(shape) ? OptionalDouble.of(0) : hidden,
        activation(sizes));
  }

  /**
   * Gemma computes the tanh form of GELU also where its files say {@code gelu} or nothing, and
   * GPT-OSS gates by {@code x · sigmoid(1.702 x)} where they say {@code silu}.
   */
  private static Optional<String> activation(Node sizes) {
    String family = text(sizes, "model_type").orElse("");
    if (family.startsWith("gemma")) {
      return Optional.of("gelu_pytorch_tanh");
    }
    return family.equals("gpt_oss")
        ? Optional.of("quick_gelu")
        : ACTIVATION.stream().flatMap(key -> text(sizes, key).stream()).findFirst();
  }

  private static Optional<String> text(Node object, String key) {
    return Optional.ofNullable(object.members().get(key))
        .filter(value -> value.is(Node.Type.TEXT))
        .map(Node::text);
  }

  private static boolean isProbability(double value) {
    return value >= 0 && value < 1;
  }

  /** Decoders in the manner of Llama drop no features, so that their files have no word for it. */
  private static boolean hasNone(TransformerShape shape) {
    return shape.encoder().isEmpty()
        && shape.stack().causal()
        && shape.stack().last().equals(Optional.of(NormShape.RMS));
  }

  private static OptionalDouble rotary(Node sizes, List<String> keys, DoublePredicate range) {
    OptionalDouble plain = first(sizes, keys, range);
    Node gathered = sizes.members().get(ROTARY.get(0));
    return plain.isPresent() || gathered == null ? plain : first(gathered, keys, range);
  }

  private static OptionalDouble first(Node object, List<String> keys, DoublePredicate range) {
    Map<String, Node> members = object.members();
    return keys.stream()
        .filter(members::containsKey)
        .map(members::get)
        .filter(value -> value.is(Node.Type.NUMBER))
        .mapToDouble(Node::finite)
        .filter(range)
        .findFirst();
  }

  private static Optional<RotaryScaling> scaling(Node sizes) {
    for (String key : ROTARY) {
      Node object = sizes.members().get(key);
      if (object == null) {
        continue;
      }
      for (String kind : List.of("rope_type", "type")) {
        Node named = object.members().get(kind);
        if (named != null && named.is(Node.Type.TEXT) && !named.text().equals("default")) {
          return Optional.of(scaling(named.text(), object));
        }
      }
    }
    return Optional.empty();
  }

  private static RotaryScaling scaling(String kind, Node object) {
    return new RotaryScaling(
        kind,
        first(object, List.of("factor"), value -> value > 0),
        first(object, List.of("low_freq_factor"), value -> value > 0),
        first(object, List.of("high_freq_factor"), value -> value > 0),
        first(object, List.of("original_max_position_embeddings"), value -> value > 0));
  }
}
