package dev.pipewright.formats.transformer;

import dev.pipewright.model.transformer.AttentionShape.Latent;
import dev.pipewright.model.transformer.FeedForwardShape;
import dev.pipewright.model.transformer.FeedForwardShape.Dense;
import dev.pipewright.model.transformer.FeedForwardShape.Mixture;
import dev.pipewright.model.transformer.TransformerShape;
import java.util.Optional;
import java.util.function.IntFunction;

/**
 * DeepSeek-V2, DeepSeek-V3 and Kimi K2 as Hugging Face's configurations write them: multi-head
 * latent attention, dense layers first, then mixtures with shared experts. The number of key-value
 * heads means nothing here.
 *
 * <p>Sources: DeepSeek-AI, arXiv:2405.04434 and arXiv:2412.19437; {@code modeling_deepseek_v3.py}
 * of the transformers library.
 */
final class LatentFamilies {
  private LatentFamilies() {}

  static TransformerShape deepSeekV2(ConfigFields config) {
    return deepSeek(config, "noaux_tc".equals(config.word("topk_method", "greedy")));
  }

  /** A bias for each expert balances the load, unless the file names another method. */
  static TransformerShape deepSeekV3(ConfigFields config) {
    return deepSeek(config, "noaux_tc".equals(config.word("topk_method", "noaux_tc")));
  }

  private static TransformerShape deepSeek(ConfigFields config, boolean routerBias) {
    Latent attention =
        new Latent(
            config.number("num_attention_heads"),
            config.optional("q_lora_rank"),
            config.number("kv_lora_rank"),
            config.number("qk_nope_head_dim"),
            config.number("qk_rope_head_dim"),
            config.number("v_head_dim"),
            config.flag("attention_bias", false),
            true);
    return DecoderFamilies.decoder(
        config,
        attention,
        feedForward(config, routerBias),
        LayerKinds.full(config, DecoderFamilies.layers(config)),
        2,
        false);
  }

  /** Dense layers first, then a mixture in every {@code moe_layer_freq}-th layer. */
  static IntFunction<FeedForwardShape> feedForward(ConfigFields config, boolean routerBias) {
    Dense dense = DecoderFamilies.gated(config.number("intermediate_size"), false);
    if (config.optional("n_routed_experts").isEmpty()) {
      return layer -> dense;
    }
    int width = config.number("moe_intermediate_size");
    int shared = config.number("n_shared_experts", 0);
    Mixture mixture =
        new Mixture(
            config.number("n_routed_experts"),
            config.number("num_experts_per_tok"),
            DecoderFamilies.gated(width, false),
            routerBias,
            shared == 0
                ? Optional.empty()
                : Optional.of(new Dense(Math.multiplyExact(shared, width), true, false)),
            false);
    int first = config.number("first_k_dense_replace", 0);
    int every = config.number("moe_layer_freq");
    return layer -> layer >= first && layer % every == 0 ? mixture : dense;
  }
}
