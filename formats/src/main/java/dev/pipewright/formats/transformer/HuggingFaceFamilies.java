package dev.pipewright.formats.transformer;

import dev.pipewright.model.transformer.TransformerShape;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * The kinds of networks of Hugging Face's transformers that are read, by {@code model_type}, with
 * the defaults of their configuration classes.
 */
final class HuggingFaceFamilies {
  private static final String NO_PREDICTION = ", num_nextn_predict_layers 0";

  private static final String LLAMA =
      "vocab_size 32000, hidden_size 4096, intermediate_size 11008, num_hidden_layers 32,"
          + " num_attention_heads 32, max_position_embeddings 2048";
  private static final String MISTRAL =
      "vocab_size 32000, hidden_size 4096, intermediate_size 14336, num_hidden_layers 32,"
          + " num_attention_heads 32, num_key_value_heads 8, max_position_embeddings 131072";
  private static final String QWEN =
      "vocab_size 151936, hidden_size 4096, intermediate_size 22016, num_hidden_layers 32,"
          + " num_attention_heads 32, num_key_value_heads 32, max_position_embeddings 32768,"
          + " sliding_window 4096, max_window_layers 28";
  private static final String QWEN_VL =
      "vocab_size 152064, hidden_size 8192, intermediate_size 29568, num_hidden_layers 80,"
          + " num_attention_heads 64, num_key_value_heads 8, max_position_embeddings 32768,"
          + " sliding_window 4096, max_window_layers 80";
  private static final String QWEN2_MOE =
      "vocab_size 151936, hidden_size 2048, intermediate_size 5632, num_hidden_layers 24,"
          + " num_attention_heads 16, num_key_value_heads 16, max_position_embeddings 32768,"
          + " sliding_window 4096, max_window_layers 28, decoder_sparse_step 1,"
          + " moe_intermediate_size 1408, shared_expert_intermediate_size 5632,"
          + " num_experts_per_tok 4, num_experts 60";
  private static final String QWEN3_MOE =
      "vocab_size 151936, hidden_size 2048, intermediate_size 6144, num_hidden_layers 24,"
          + " num_attention_heads 32, num_key_value_heads 4, max_position_embeddings 32768,"
          + " sliding_window 4096, decoder_sparse_step 1, moe_intermediate_size 768,"
          + " num_experts_per_tok 8, num_experts 128";
  private static final String GEMMA =
      "vocab_size 256000, hidden_size 3072, intermediate_size 24576, num_hidden_layers 28,"
          + " num_attention_heads 16, num_key_value_heads 16, head_dim 256,"
          + " max_position_embeddings 8192";
  private static final String GEMMA2 =
      "vocab_size 256000, hidden_size 2304, intermediate_size 9216, num_hidden_layers 26,"
          + " num_attention_heads 8, num_key_value_heads 4, head_dim 256,"
          + " max_position_embeddings 8192, sliding_window 4096";
  private static final String GEMMA3 =
      "vocab_size 262208, hidden_size 2304, intermediate_size 9216, num_hidden_layers 26,"
          + " num_attention_heads 8, num_key_value_heads 4, head_dim 256,"
          + " max_position_embeddings 131072, sliding_window 4096, sliding_window_pattern 6";
  private static final String PHI3 =
      "vocab_size 32064, hidden_size 3072, intermediate_size 8192, num_hidden_layers 32,"
          + " num_attention_heads 32, max_position_embeddings 4096";
  private static final String GPT_OSS =
      "vocab_size 201088, hidden_size 2880, intermediate_size 2880, num_hidden_layers 36,"
          + " num_attention_heads 64, num_key_value_heads 8, head_dim 64,"
          + " max_position_embeddings 131072, sliding_window 128, num_local_experts 128,"
          + " num_experts_per_tok 4";
  private static final String LLAMA4 =
      "vocab_size 202048, hidden_size 5120, intermediate_size 8192, intermediate_size_mlp 16384,"
          + " num_hidden_layers 48, num_attention_heads 40, num_key_value_heads 8, head_dim 128,"
          + " max_position_embeddings 131072, num_experts_per_tok 1, num_local_experts 16,"
          + " interleave_moe_layer_step 1, attention_chunk_size 8192, no_rope_layer_interval 4";
  private static final String GLM4_MOE =
      "vocab_size 151552, hidden_size 4096, intermediate_size 10944, num_hidden_layers 46,"
          + " num_attention_heads 96, num_key_value_heads 8, max_position_embeddings 131072,"
          + " moe_intermediate_size 1408, num_experts_per_tok 8, n_shared_experts 1,"
          + " n_routed_experts 128, first_k_dense_replace 1, moe_layer_freq 1";
  private static final String DEEPSEEK_V2 =
      "vocab_size 32000, hidden_size 4096, intermediate_size 11008, num_hidden_layers 32,"
          + " num_attention_heads 32, max_position_embeddings 2048, q_lora_rank 1536,"
          + " kv_lora_rank 512, qk_nope_head_dim 128, qk_rope_head_dim 64, v_head_dim 128,"
          + " n_routed_experts 64, n_shared_experts 2, moe_intermediate_size 1407,"
          + " first_k_dense_replace 0, moe_layer_freq 1";
  private static final String DEEPSEEK_V3 =
      "vocab_size 129280, hidden_size 7168, intermediate_size 18432, num_hidden_layers 61,"
          + " num_attention_heads 128, max_position_embeddings 4096, q_lora_rank 1536,"
          + " kv_lora_rank 512, qk_nope_head_dim 128, qk_rope_head_dim 64, v_head_dim 128,"
          + " n_routed_experts 256, n_shared_experts 1, moe_intermediate_size 2048,"
          + " first_k_dense_replace 3, moe_layer_freq 1, num_experts_per_tok 8";
  private static final String GPT2 =
      "vocab_size 50257, n_positions 1024, n_embd 768, n_layer 12, n_head 12";
  private static final String GPT_NEOX =
      "vocab_size 50432, hidden_size 6144, intermediate_size 24576, num_hidden_layers 44,"
          + " num_attention_heads 64, max_position_embeddings 2048";
  private static final String OPT =
      "vocab_size 50272, hidden_size 768, ffn_dim 3072, num_hidden_layers 12,"
          + " num_attention_heads 12, max_position_embeddings 2048";
  private static final String BERT =
      "vocab_size 30522, hidden_size 768, intermediate_size 3072, num_hidden_layers 12,"
          + " num_attention_heads 12, max_position_embeddings 512, type_vocab_size 2";
  private static final String VIT =
      "hidden_size 768, intermediate_size 3072, num_hidden_layers 12, num_attention_heads 12,"
          + " image_size 224, patch_size 16, num_channels 3";
  private static final String T5 =
      "vocab_size 32128, d_model 512, d_kv 64, d_ff 2048, num_layers 6, num_heads 8,"
          + " relative_attention_num_buckets 32, n_positions 512";

  /**
   * A kind of network.
   *
   * @param architecture how the name of its classes begins
   */
  record Family(
      String architecture,
      Map<String, Integer> defaults,
      Function<ConfigFields, TransformerShape> shape) {}

  private static final Map<String, Family> KNOWN = known();

  private HuggingFaceFamilies() {}

  private static Map<String, Family> known() {
    Map<String, Family> all = new LinkedHashMap<>();
    add(all, "llama", "LlamaFor", LLAMA, DecoderFamilies::llama);
    add(all, "mistral", "MistralFor", MISTRAL + ", sliding_window 4096", DecoderFamilies::mistral);
    String mixtral = MISTRAL + ", num_local_experts 8, num_experts_per_tok 2";
    add(all, "mixtral", "MixtralFor", mixtral, DecoderFamilies::mixtral);
    add(all, "qwen2", "Qwen2For", QWEN, DecoderFamilies::qwen2);
    add(all, "qwen2_vl", "Qwen2VLFor", QWEN_VL, DecoderFamilies::qwen2);
    add(all, "qwen2_5_vl", "Qwen2_5_VLFor", QWEN_VL, DecoderFamilies::qwen2);
    add(all, "qwen2_moe", "Qwen2MoeFor", QWEN2_MOE, DecoderFamilies::qwen2Mixture);
    add(all, "qwen3", "Qwen3For", QWEN + ", head_dim 128", DecoderFamilies::qwen3);
    add(all, "qwen3_moe", "Qwen3MoeFor", QWEN3_MOE, DecoderFamilies::qwen3Mixture);
    String vision = ", head_dim 128, max_position_embeddings 128000";
    add(all, "qwen3_vl", "Qwen3VLFor", QWEN + vision, DecoderFamilies::qwen3);
    add(all, "qwen3_vl_moe", "Qwen3VLMoeFor", QWEN3_MOE + vision, DecoderFamilies::qwen3Mixture);
    add(all, "gemma", "GemmaFor", GEMMA, DecoderFamilies::gemma);
    add(all, "gemma2", "Gemma2For", GEMMA2, DecoderFamilies::gemma2);
    add(all, "gemma3", "Gemma3For", GEMMA3, DecoderFamilies::gemma3);
    add(all, "phi3", "Phi3For", PHI3, DecoderFamilies::mistral);
    add(all, "gpt_oss", "GptOssFor", GPT_OSS, DecoderFamilies::gptOss);
    add(all, "llama4", "Llama4For", LLAMA4, DecoderFamilies::llama4);
    add(all, "glm4_moe", "Glm4MoeFor", GLM4_MOE, DecoderFamilies::glm4Mixture);
    add(all, "deepseek_v2", "DeepseekV2For", DEEPSEEK_V2, LatentFamilies::deepSeekV2);
    add(all, "deepseek_v3", "DeepseekV3For", DEEPSEEK_V3, LatentFamilies::deepSeekV3);
    add(all, "kimi_k2", "KimiK2For", DEEPSEEK_V3, LatentFamilies::deepSeekV3);
    add(all, "gpt2", "GPT2", GPT2, OlderFamilies::gpt2);
    add(all, "gpt_neox", "GPTNeoX", GPT_NEOX, OlderFamilies::gptNeoX);
    add(all, "opt", "OPT", OPT, OlderFamilies::opt);
    add(all, "bert", "Bert", BERT, OlderFamilies::bert);
    add(all, "vit", "ViT", VIT, OlderFamilies::vit);
    add(all, "t5", "T5", T5, OlderFamilies::t5);
    return all;
  }

  private static void add(
      Map<String, Family> all,
      String type,
      String architecture,
      String defaults,
      Function<ConfigFields, TransformerShape> shape) {
    all.put(type, new Family(architecture, ConfigFields.defaults(defaults + NO_PREDICTION), shape));
  }

  /** The family of a {@code model_type}, also of the text tower of one. */
  static Optional<Family> of(String type) {
    String plain = type.endsWith("_text") ? type.substring(0, type.length() - 5) : type;
    return Optional.ofNullable(KNOWN.get(plain));
  }

  /** The family whose classes a file names; by the longest beginning. */
  static Optional<Family> ofArchitecture(List<String> architectures) {
    return KNOWN.values().stream()
        .filter(
            family -> architectures.stream().anyMatch(name -> name.startsWith(family.architecture)))
        .reduce((a, b) -> b.architecture.length() > a.architecture.length() ? b : a);
  }

  static List<String> names() {
    return List.copyOf(KNOWN.keySet());
  }
}
