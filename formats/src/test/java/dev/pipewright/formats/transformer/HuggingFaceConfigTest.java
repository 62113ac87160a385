package dev.pipewright.formats.transformer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.formats.file.Refusal;
import dev.pipewright.formats.model.TransformerConstants;
import dev.pipewright.formats.model.TransformerFile;
import dev.pipewright.model.transformer.AttentionSpan;
import dev.pipewright.model.transformer.TransformerShape;
import dev.pipewright.zoo.Transformers;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Files as short as their families' defaults allow, against the released checkpoints' counts. */
class HuggingFaceConfigTest {
  @TempDir Path folder;

  private TransformerFile read(String sizes) {
    return HuggingFaceConfig.read(file(sizes));
  }

  /** {@code model_type gpt2 n_embd 1600} as an object. */
  private Path file(String sizes) {
    StringBuilder text = new StringBuilder("{");
    String[] words = sizes.split(" ", -1);
    for (int i = 0; i < words.length; i += 2) {
      String value = words[i + 1];
      boolean plain = value.matches("[0-9]+|true|false|null|[\\[{].*");
      text.append(i == 0 ? "" : ",")
          .append("\"%s\": %s".formatted(words[i], plain ? value : "\"" + value + "\""));
    }
    return Refusal.file(folder, "config.json", text.append("}").toString());
  }

  /** Base and share of rotary positions, norms' epsilon, dropout of attention and of features. */
  @ParameterizedTest
  @CsvSource({
    "'\"llama\", \"rope_theta\": 500000.0, \"rms_norm_eps\": 1e-05', '500000.0 - 1.0E-5 - 0.0'",
    "'\"llama\", \"rope_parameters\": {\"rope_theta\": 1e6, \"rope_type\": \"default\"}', '1000000.0 - - - 0.0'",
    "'\"glm4_moe\", \"head_dim\": 128, \"partial_rotary_factor\": 0.5, \"attention_dropout\": 0.1', '- 0.5 - 0.1 0.0'",
    "'\"gpt2\", \"layer_norm_epsilon\": 1e-6, \"attn_pdrop\": 0.2, \"resid_pdrop\": 0.1', '- - 1.0E-6 0.2 0.1'",
    "'\"gpt2\"', '- - - - -'",
    "'\"bert\", \"hidden_dropout_prob\": 0.1, \"layer_norm_eps\": \"small\"', '- - - - 0.1'"
  })
  void constantsAreThoseThatTheFileStates(String family, String expected) {
    Path file = Refusal.file(folder, "config.json", "{\"model_type\": " + family + "}");
    TransformerConstants read = HuggingFaceConfig.read(file).constants();
    assertEquals(
        expected,
        Stream.of(
                read.rotaryBase(),
                read.rotaryShare(),
                read.normEpsilon(),
                read.attentionDropout(),
                read.hiddenDropout())
            .map(each -> each.isPresent() ? String.valueOf(each.getAsDouble()) : "-")
            .collect(Collectors.joining(" ")));
    assertEquals(Optional.empty(), read.rotaryScaling());
  }

  private TransformerShape shape(String sizes) {
    return read(sizes).shape();
  }

  @ParameterizedTest
  @CsvSource({
    "model_type gpt2, 124439808",
    "model_type gpt2 n_embd 1600 n_layer 48 n_head 25, 1557611200",
    "model_type llama max_position_embeddings 4096, 6738415616",
    "model_type llama vocab_size 128256 hidden_size 2048 intermediate_size 8192 num_hidden_layers 16 num_key_value_heads 8 head_dim 64 tie_word_embeddings true, 1235814400",
    "model_type mistral, 7241732096",
    "model_type mixtral, 46702792704",
    "model_type qwen2 vocab_size 152064 hidden_size 3584 num_attention_heads 28 num_hidden_layers 28 num_key_value_heads 4 intermediate_size 18944, 7615616512",
    "model_type qwen2 hidden_size 896 num_attention_heads 14 num_hidden_layers 24 num_key_value_heads 2 intermediate_size 4864 tie_word_embeddings true, 494032768",
    "model_type qwen2_moe, 14315784192",
    "model_type qwen3 hidden_size 5120 intermediate_size 25600 num_attention_heads 64 num_hidden_layers 64 num_key_value_heads 8, 32762123264",
    "model_type qwen3 hidden_size 1024 intermediate_size 3072 num_attention_heads 16 num_hidden_layers 28 num_key_value_heads 8 tie_word_embeddings true, 596049920",
    "model_type gemma, 8537680896",
    "model_type gemma hidden_size 2048 intermediate_size 16384 num_hidden_layers 18 num_attention_heads 8 num_key_value_heads 1, 2506172416",
    "model_type gemma2, 2614341888",
    "model_type gemma3_text vocab_size 262144 hidden_size 1152 intermediate_size 6912 num_attention_heads 4 num_key_value_heads 1, 999885952",
    "model_type gemma3_text hidden_size 2560 intermediate_size 10240 num_hidden_layers 34 sliding_window 1024, 3880263168",
    "model_type qwen2_vl vocab_size 151936 hidden_size 1536 num_attention_heads 12 num_hidden_layers 28 num_key_value_heads 2 intermediate_size 8960 tie_word_embeddings true, 1543714304",
    "model_type mistral architectures [\"MistralModel\"], 7110660096",
    "model_type phi3, 3821079552",
    "model_type gpt_oss, 116829156672",
    "model_type deepseek_v3, 671026419200",
    "model_type deepseek_v2 vocab_size 102400 hidden_size 2048 intermediate_size 10944 num_hidden_layers 27 num_attention_heads 16 q_lora_rank null num_experts_per_tok 6 moe_intermediate_size 1408 first_k_dense_replace 1, 15706484224",
    "model_type deepseek_v2 vocab_size 102400 hidden_size 5120 intermediate_size 12288 num_hidden_layers 60 num_attention_heads 128 num_experts_per_tok 6 n_routed_experts 160 moe_intermediate_size 1536 first_k_dense_replace 1, 235741434880",
    "model_type kimi_k2 vocab_size 163840 n_routed_experts 384 first_k_dense_replace 1 num_attention_heads 64, 1026408232448",
    "model_type opt hidden_size 2048 ffn_dim 8192 num_hidden_layers 24 num_attention_heads 32, 1315758080",
    "model_type opt hidden_size 1024 ffn_dim 4096 num_hidden_layers 24 num_attention_heads 16 word_embed_proj_dim 512 do_layer_norm_before false, 331196416",
    "model_type gpt_neox hidden_size 4096 intermediate_size 16384 num_hidden_layers 32 num_attention_heads 32, 6857302016",
    "model_type bert, 109482240",
    "model_type bert architectures [\"BertForPreTraining\"], 110106428",
    "model_type vit architectures [\"ViTForImageClassification\"] num_labels 1000, 86567656",
    "model_type vit, 86389248",
    "model_type t5, 60506624",
    "model_type t5 d_model 1024 d_ff 65536 d_kv 128 num_heads 128 num_layers 24, 11307321344",
    "model_type t5 d_model 4096 d_ff 10240 num_heads 64 num_layers 24 feed_forward_proj gated-gelu tie_word_embeddings false, 11135332352",
  })
  void parametersAreThoseOfTheCheckpoint(String sizes, long parameters) {
    assertEquals(parameters, shape(sizes).parameters());
  }

  @ParameterizedTest
  @CsvSource({
    "model_type mixtral, mixtral-8x7b",
    "model_type gpt_oss, gpt-oss-120b",
    "model_type gpt_oss num_hidden_layers 24 num_local_experts 32, gpt-oss-20b",
    "model_type deepseek_v3 num_nextn_predict_layers 1, deepseek-v3",
    "model_type gpt2, gpt-2",
    "model_type vit architectures [\"ViTForImageClassification\"] num_labels 1000, vit-b-16",
    "model_type bert, bert-base",
    "model_type t5 d_model 768 d_ff 3072 num_heads 12 num_layers 12, t5-base",
  })
  void shapesAreThoseOfTheZoo(String sizes, String name) {
    TransformerShape zoo = Transformers.find(name).orElseThrow().shape();
    TransformerShape read = shape(sizes);
    assertEquals(zoo, read.withSequence(zoo.sequence()));
  }

  @Test
  void textTowersAreReadAndTheOtherIsNamed() {
    TransformerFile read =
        read(
            "model_type gemma3 vision_config {} text_config"
                + " {\"model_type\":\"gemma3_text\",\"num_hidden_layers\":12}");
    assertEquals(12, read.shape().layers());
    assertEquals("Hugging Face config (gemma3_text)", read.source());
    assertEquals(
        List.of("counts are those of the text model; vision_config is left out"), read.notes());
  }

  /** The text's own word on tying counts, then that of the whole, then the family's. */
  @Test
  void tiesAreSaidByTheTextOrByTheWhole() {
    String text = "{\"model_type\":\"gemma3_text\",\"num_hidden_layers\":1";
    assertEquals(0, shape("model_type gemma3 text_config " + text + "}").headParameters());
    String outside = "model_type gemma3 tie_word_embeddings false text_config ";
    assertEquals(262_208L * 2304, shape(outside + text + "}").headParameters());
    assertEquals(0, shape(outside + text + ",\"tie_word_embeddings\":true}").headParameters());
  }

  @Test
  void mixturesOfDeepSeekComeAfterDenseLayersAtTheirFrequency() {
    TransformerShape shape = shape("model_type deepseek_v3 num_hidden_layers 8 moe_layer_freq 2");
    assertEquals(
        List.of(4, 1, 1, 1, 1), shape.stack().runs().stream().map(run -> run.count()).toList());
  }

  /** Meta's two models, of which only every second layer of the larger one has experts. */
  @Test
  void llama4MixesEveryLayerOrEverySecond() {
    TransformerShape scout = shape("model_type llama4_text");
    assertEquals(107_769_861_120L, scout.parameters());
    assertEquals(17_172_894_720L, scout.activeParameters());
    TransformerShape maverick =
        shape("model_type llama4_text interleave_moe_layer_step 2 num_local_experts 128");
    assertEquals(400_711_848_960L, maverick.parameters());
    assertEquals(
        List.of(3, 1, 3, 1),
        scout.stack().runs().stream().limit(4).map(run -> run.count()).toList());
  }

  @Test
  void windowsAreThoseOfTheFamily() {
    assertEquals("111111", windows("model_type mistral num_hidden_layers 6"));
    assertEquals("000000", windows("model_type mistral sliding_window null num_hidden_layers 6"));
    assertEquals("101010", windows("model_type gemma2 num_hidden_layers 6"));
    assertEquals("11111011", windows("model_type gemma3_text num_hidden_layers 8"));
    assertEquals("000000", windows("model_type qwen3 num_hidden_layers 6 max_window_layers 4"));
    assertEquals(
        "000011",
        windows(
            "model_type qwen3 num_hidden_layers 6 max_window_layers 4 use_sliding_window true"));
    assertEquals(
        "010",
        windows(
            "model_type gpt_oss num_hidden_layers 3 layer_types"
                + " [\"full_attention\",\"sliding_attention\",\"full_attention\"]"));
  }

  private String windows(String sizes) {
    StringBuilder marks = new StringBuilder();
    shape(sizes)
        .stack()
        .blocks()
        .forEach(block -> marks.append(block.span() instanceof AttentionSpan.Full ? 0 : 1));
    return marks.toString();
  }

  @Test
  void anUnknownTypeGoesByItsArchitecture() {
    TransformerShape shape =
        shape("model_type kimi_next architectures [\"DeepseekV3ForCausalLM\"]");
    assertEquals(671_026_419_200L, shape.parameters());
    assertEquals(124_439_808, shape("architectures [\"GPT2LMHeadModel\"]").parameters());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "model_type mamba|1: the Hugging Face model type \"mamba\" is not supported yet; known are llama,",
        "architectures [\"RwkvForCausalLM\"]|1: the Hugging Face model type \"RwkvForCausalLM\" is not",
        "model_type llama hidden_size big|1: hidden_size is the text \"big\"; expected a whole number >= 1",
        "model_type llama hidden_size 99999999999|1: hidden_size is the number 99999999999; expected",
        "model_type llama hidden_size 4097|1: hidden_size=4097 is no multiple of num_attention_heads=32; correct one",
        "model_type llama num_key_value_heads 5|1: heads=32 is no multiple of key_value_heads=5; each",
        "model_type llama num_hidden_layers 2000000000|1: num_hidden_layers=2000000000 is out of range; write 1",
        "model_type llama num_hidden_layers 0|1: num_hidden_layers is the number 0; expected a whole number >= 1",
        "model_type llama num_hidden_layers null|1: the key \"num_hidden_layers\" is missing; add it",
        "model_type llama tie_word_embeddings 1|1: tie_word_embeddings is the number 1; expected true or false",
        "model_type llama text_config 3|1: text_config is the number 3; expected an object",
        "model_type deepseek_v2|1: the key \"num_experts_per_tok\" is missing; add it",
        "model_type qwen3_moe num_experts_per_tok 129|1: experts_per_token=129 is not from 1 to experts=128",
        "model_type qwen3 num_hidden_layers 1 layer_types [\"linear_attention\"]|1: layer_types[0] is linear_attention, which is not supported yet; known",
        "model_type qwen3 layer_types [\"full_attention\"]|1: layer_types lists 1 layers, but num_hidden_layers is 32; list each",
        "model_type bert architectures [\"BertForTokenClassification\"]|1: the architecture BertForTokenClassification has a head that is not supported yet; name",
        "model_type llama architectures [\"LlamaForSequenceClassification\"]|1: the architecture LlamaForSequenceClassification has a head that is not supported yet; name",
        "model_type gpt2 add_cross_attention true|1: gpt2 with cross-attention is not supported yet; give",
        "model_type vit patch_size 15|1: image_size=224 is no multiple, at most 4096-fold, of patch_size=15",
        "model_type llama hidden_size 16777216 num_attention_heads 1 intermediate_size 16777216 num_hidden_layers 16384|1: the network has more than 9e18 parameters; correct its sizes",
        "model_type deepseek_v3 n_shared_experts 2000000000|1: the sizes are too large to count with; correct them",
        "model_type gpt2 n_embd 1000000000 n_head 1000000|1: the sizes are too large to count with; correct them",
      })
  void mistakesAreSaidInASentence(String sizes, String expected) {
    String said = Refusal.of(file(sizes), HuggingFaceConfig::read);
    assertTrue(said.startsWith("config.json:" + expected), said);
  }

  @Test
  void beginningsAreRecognised() {
    assertTrue(HuggingFaceConfig.begins("{\"a\": 1, \"model_type\" : \"x\""));
    assertTrue(HuggingFaceConfig.begins("{ \"architectures\": null"));
    assertEquals(
        false, HuggingFaceConfig.begins("{\"format\": \"pipewright-x\", \"model_type\": 1"));
    assertEquals(false, HuggingFaceConfig.begins("model_type: llama"));
  }
}
