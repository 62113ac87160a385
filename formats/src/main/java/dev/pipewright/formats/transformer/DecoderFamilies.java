package dev.pipewright.formats.transformer;

import dev.pipewright.model.transformer.AttentionShape;
import dev.pipewright.model.transformer.AttentionShape.GroupedQuery;
import dev.pipewright.model.transformer.AttentionShape.QueryKeyNorm;
import dev.pipewright.model.transformer.AttentionSpan;
import dev.pipewright.model.transformer.FeedForwardShape;
import dev.pipewright.model.transformer.FeedForwardShape.Dense;
import dev.pipewright.model.transformer.FeedForwardShape.Mixture;
import dev.pipewright.model.transformer.InputShape;
import dev.pipewright.model.transformer.InputShape.Positions;
import dev.pipewright.model.transformer.LayerShape;
import dev.pipewright.model.transformer.NormShape;
import dev.pipewright.model.transformer.StackShape;
import dev.pipewright.model.transformer.TokenPrediction;
import dev.pipewright.model.transformer.TransformerShape;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;

/**
 * Decoders in the manner of Llama, as Hugging Face's transformers build them: RMS norms before both
 * parts of a block, rotary positions, gated feed-forward parts, grouped-query attention. Families
 * differ in biases, norms of queries and keys, mixtures and windows.
 *
 * <p>Source: {@code configuration_*.py} and {@code modeling_*.py} of the transformers library,
 * release 5 (2026) where a default changed.
 */
final class DecoderFamilies {
  private static final String HIDDEN = "hidden_size";
  private static final String HEADS = "num_attention_heads";
  private static final String LAYERS = "num_hidden_layers";
  private static final String WIDTH = "intermediate_size";
  private static final String EXPERT_WIDTH = "moe_intermediate_size";
  private static final String CHOSEN = "num_experts_per_tok";

  private DecoderFamilies() {}

  static TransformerShape llama(ConfigFields config) {
    boolean biases = config.flag("attention_bias", false);
    Dense dense = gated(config.number(WIDTH), config.flag("mlp_bias", false));
    return decoder(
        config,
        grouped(config, biases, biases, QueryKeyNorm.NONE),
        layer -> dense,
        LayerKinds.full(config, layers(config)),
        2,
        false);
  }

  /** All layers have the window, where the file has one. */
  static TransformerShape mistral(ConfigFields config) {
    Dense dense = gated(config.number(WIDTH), false);
    return decoder(
        config,
        grouped(config, false, false, QueryKeyNorm.NONE),
        layer -> dense,
        LayerKinds.of(config, layers(config), layer -> true),
        2,
        false);
  }

  static TransformerShape mixtral(ConfigFields config) {
    Mixture mixture =
        new Mixture(
            config.number("num_local_experts"),
            config.number(CHOSEN),
            gated(config.number(WIDTH), false),
            false,
            Optional.empty(),
            false);
    return decoder(
        config,
        grouped(config, false, false, QueryKeyNorm.NONE),
        layer -> mixture,
        LayerKinds.of(config, layers(config), layer -> true),
        2,
        false);
  }

  static TransformerShape qwen2(ConfigFields config) {
    Dense dense = gated(config.number(WIDTH), false);
    return decoder(
        config,
        grouped(config, true, false, QueryKeyNorm.NONE),
        layer -> dense,
        upperWindows(config),
        2,
        false);
  }

  static TransformerShape qwen3(ConfigFields config) {
    boolean biases = config.flag("attention_bias", false);
    Dense dense = gated(config.number(WIDTH), false);
    return decoder(
        config,
        grouped(config, biases, biases, QueryKeyNorm.HEAD),
        layer -> dense,
        upperWindows(config),
        2,
        false);
  }

  static TransformerShape qwen2Mixture(ConfigFields config) {
    Dense shared = gated(config.number("shared_expert_intermediate_size"), false);
    return decoder(
        config,
        grouped(config, config.flag("qkv_bias", true), false, QueryKeyNorm.NONE),
        qwenMixture(config, Optional.of(shared)),
        upperWindows(config),
        2,
        false);
  }

  static TransformerShape qwen3Mixture(ConfigFields config) {
    boolean biases = config.flag("attention_bias", false);
    boolean windows = config.flag("use_sliding_window", false);
    return decoder(
        config,
        grouped(config, biases, biases, QueryKeyNorm.HEAD),
        qwenMixture(config, Optional.empty()),
        LayerKinds.of(config, layers(config), layer -> windows),
        2,
        false);
  }

  private static IntFunction<FeedForwardShape> qwenMixture(
      ConfigFields config, Optional<Dense> shared) {
    Set<Integer> plain = new HashSet<>(config.numbers("mlp_only_layers"));
    int every = config.number("decoder_sparse_step");
    int experts =
        config.says("num_local_experts")
            ? config.number("num_local_experts", 0)
            : config.number("num_experts", 0);
    Dense dense = gated(config.number(WIDTH), false);
    if (experts == 0) {
      return layer -> dense;
    }
    Mixture mixture =
        new Mixture(
            experts,
            config.number(CHOSEN),
            gated(config.number(EXPERT_WIDTH), false),
            false,
            shared,
            shared.isPresent());
    return layer -> !plain.contains(layer) && (layer + 1) % every == 0 ? mixture : dense;
  }

  /** Qwen's windows begin at layer {@code max_window_layers}, where they are switched on. */
  private static List<AttentionSpan> upperWindows(ConfigFields config) {
    boolean windows = config.flag("use_sliding_window", false);
    int first = config.number("max_window_layers", 0);
    return LayerKinds.of(config, layers(config), layer -> windows && layer >= first);
  }

  static TransformerShape gemma(ConfigFields config) {
    boolean biases = config.flag("attention_bias", false);
    Dense dense = gated(config.number(WIDTH), false);
    return decoder(
        config,
        grouped(config, biases, biases, QueryKeyNorm.NONE),
        layer -> dense,
        LayerKinds.full(config, layers(config)),
        2,
        true);
  }

  /** Norms before and after both parts; every second layer has the window. */
  static TransformerShape gemma2(ConfigFields config) {
    boolean biases = config.flag("attention_bias", false);
    Dense dense = gated(config.number(WIDTH), false);
    return decoder(
        config,
        grouped(config, biases, biases, QueryKeyNorm.NONE),
        layer -> dense,
        LayerKinds.of(config, layers(config), layer -> layer % 2 == 0),
        4,
        true);
  }

  /** All but every sixth layer have the window. */
  static TransformerShape gemma3(ConfigFields config) {
    boolean biases = config.flag("attention_bias", false);
    String key = "sliding_window_pattern";
    int every = config.number(config.says("_" + key) ? "_" + key : key);
    Dense dense = gated(config.number(WIDTH), false);
    return decoder(
        config,
        grouped(config, biases, biases, QueryKeyNorm.HEAD),
        layer -> dense,
        LayerKinds.of(config, layers(config), layer -> (layer + 1) % every != 0),
        4,
        true);
  }

  /** Biases everywhere, also of router and experts; a learned sink for each head. */
  static TransformerShape gptOss(ConfigFields config) {
    boolean biases = config.flag("attention_bias", true);
    Mixture mixture =
        new Mixture(
            config.says("num_experts")
                ? config.number("num_experts")
                : config.number("num_local_experts"),
            config.number(CHOSEN),
            gated(config.number(WIDTH), true),
            true,
            Optional.empty(),
            false);
    GroupedQuery plain = grouped(config, biases, biases, QueryKeyNorm.NONE);
    GroupedQuery attention =
        new GroupedQuery(
            plain.heads(),
            plain.keyValueHeads(),
            plain.headWidth(),
            biases,
            biases,
            QueryKeyNorm.NONE,
            true);
    return decoder(
        config,
        attention,
        layer -> mixture,
        LayerKinds.of(config, layers(config), layer -> layer % 2 == 0),
        2,
        false);
  }

  /** Layers with rotary positions read chunks; a shared expert as wide as a routed one. */
  static TransformerShape llama4(ConfigFields config) {
    boolean biases = config.flag("attention_bias", false);
    Dense expert = gated(config.number(WIDTH), false);
    Mixture mixture =
        new Mixture(
            config.number("num_local_experts"),
            config.number(CHOSEN),
            expert,
            false,
            Optional.of(expert),
            false);
    Dense dense = gated(config.number("intermediate_size_mlp"), false);
    int every = config.number("interleave_moe_layer_step");
    Set<Integer> mixed = new HashSet<>(config.numbers("moe_layers"));
    IntPredicate isMixed =
        config.says("moe_layers") ? mixed::contains : layer -> (layer + 1) % every == 0;
    List<Integer> rotated = config.numbers("no_rope_layers");
    int interval = config.number("no_rope_layer_interval");
    IntPredicate isChunked =
        layer ->
            rotated.isEmpty()
                ? (layer + 1) % interval != 0
                : layer >= rotated.size() || rotated.get(layer) != 0;
    return decoder(
        config,
        grouped(config, biases, biases, QueryKeyNorm.PLAIN),
        layer -> isMixed.test(layer) ? mixture : dense,
        LayerKinds.chunked(config, layers(config), isChunked),
        2,
        false);
  }

  /** DeepSeek's routing with grouped-query attention, whose output has no bias. */
  static TransformerShape glm4Mixture(ConfigFields config) {
    QueryKeyNorm norm = config.flag("use_qk_norm", false) ? QueryKeyNorm.HEAD : QueryKeyNorm.NONE;
    return decoder(
        config,
        grouped(config, config.flag("attention_bias", false), false, norm),
        LatentFamilies.feedForward(config, true),
        LayerKinds.full(config, layers(config)),
        2,
        false);
  }

  static int layers(ConfigFields config) {
    return config.layers(LAYERS);
  }

  static Dense gated(int width, boolean biases) {
    return new Dense(width, true, biases);
  }

  private static GroupedQuery grouped(
      ConfigFields config, boolean inputBiases, boolean outputBias, QueryKeyNorm norm) {
    int heads = config.number(HEADS);
    int width = config.optional("head_dim").orElseGet(() -> config.share(HIDDEN, HEADS));
    return new GroupedQuery(
        heads,
        config.optional("num_key_value_heads").orElse(heads),
        width,
        inputBiases,
        outputBias,
        norm,
        false);
  }

  static TransformerShape decoder(
      ConfigFields config,
      AttentionShape attention,
      IntFunction<FeedForwardShape> feedForward,
      List<AttentionSpan> spans,
      int norms,
      boolean usuallyTied) {
    List<LayerShape> blocks = new ArrayList<>();
    for (int layer = 0; layer < spans.size(); layer++) {
      blocks.add(
          new LayerShape(
              attention, spans.get(layer), feedForward.apply(layer), NormShape.RMS, norms, false));
    }
    int hidden = config.number(HIDDEN);
    int depth = config.number("num_nextn_predict_layers", 0);
    LayerShape last = blocks.get(blocks.size() - 1).reading(new AttentionSpan.Full());
    return new TransformerShape(
        hidden,
        InputShape.Words.of(config.number("vocab_size"), hidden, new Positions.Rotary()),
        Optional.empty(),
        new StackShape(blocks, true, Optional.of(NormShape.RMS)),
        config.scores(usuallyTied),
        depth == 0 ? Optional.empty() : Optional.of(new TokenPrediction(depth, last)),
        config.number("max_position_embeddings"));
  }
}
