package dev.pipewright.formats.transformer;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.ShownText;
import dev.pipewright.model.transformer.AttentionShape.GroupedQuery;
import dev.pipewright.model.transformer.AttentionShape.QueryKeyNorm;
import dev.pipewright.model.transformer.AttentionSpan;
import dev.pipewright.model.transformer.FeedForwardShape.Dense;
import dev.pipewright.model.transformer.HeadPart;
import dev.pipewright.model.transformer.InputShape;
import dev.pipewright.model.transformer.InputShape.Positions;
import dev.pipewright.model.transformer.LayerShape;
import dev.pipewright.model.transformer.NormShape;
import dev.pipewright.model.transformer.StackShape;
import dev.pipewright.model.transformer.TransformerShape;
import java.util.List;
import java.util.Optional;

/**
 * Networks before Llama as Hugging Face's configurations write them: layer norms, plain
 * feed-forward parts, biases. A model's head follows from the class that the file is for.
 *
 * <p>Source: {@code configuration_*.py} and {@code modeling_*.py} of the transformers library.
 */
final class OlderFamilies {
  private static final String HIDDEN = "hidden_size";
  private static final String HEADS = "num_attention_heads";
  private static final String WIDTH = "intermediate_size";

  private OlderFamilies() {}

  static TransformerShape gpt2(ConfigFields config) {
    if (config.flag("add_cross_attention", false)) {
      throw config.wrong(
          "add_cross_attention",
          "gpt2 with cross-attention is not supported yet; give a decoder without it");
    }
    int hidden = config.number("n_embd");
    GroupedQuery attention =
        GroupedQuery.biased(config.number("n_head"), config.share("n_embd", "n_head"));
    int width = config.optional("n_inner").orElseGet(() -> Math.multiplyExact(4, hidden));
    int positions = config.number("n_positions");
    return TransformerShape.of(
        hidden,
        InputShape.Words.of(config.number("vocab_size"), hidden, new Positions.Learned(positions)),
        stack(config.layers("n_layer"), block(attention, width), true, true),
        config.scores(true),
        positions);
  }

  /** Rotary positions; attention and feed-forward part read the same states. */
  static TransformerShape gptNeoX(ConfigFields config) {
    boolean biases = config.flag("attention_bias", true);
    int hidden = config.number(HIDDEN);
    int heads = config.number(HEADS);
    GroupedQuery attention =
        new GroupedQuery(
            heads, heads, config.share(HIDDEN, HEADS), biases, biases, QueryKeyNorm.NONE, false);
    return TransformerShape.of(
        hidden,
        InputShape.Words.of(config.number("vocab_size"), hidden, new Positions.Rotary()),
        stack(
            config.layers("num_hidden_layers"), block(attention, config.number(WIDTH)), true, true),
        config.scores(false),
        config.number("max_position_embeddings"));
  }

  /** Two unused rows of positions; a table of words that may be narrower than the states. */
  static TransformerShape opt(ConfigFields config) {
    boolean biases = config.flag("enable_bias", true);
    boolean before = config.flag("do_layer_norm_before", true);
    NormShape norm =
        config.flag("layer_norm_elementwise_affine", true) ? NormShape.LAYER : NormShape.PLAIN;
    int hidden = config.number(HIDDEN);
    int heads = config.number(HEADS);
    GroupedQuery attention =
        new GroupedQuery(
            heads, heads, config.share(HIDDEN, HEADS), biases, biases, QueryKeyNorm.NONE, false);
    LayerShape block =
        LayerShape.of(attention, new Dense(config.number("ffn_dim"), false, biases), norm);
    boolean last = before && !config.flag("_remove_final_layer_norm", false);
    int positions = config.number("max_position_embeddings");
    InputShape.Words words =
        new InputShape.Words(
            config.number("vocab_size"),
            config.optional("word_embed_proj_dim").orElse(hidden),
            new Positions.Learned(Math.addExact(positions, 2)),
            0,
            Optional.empty());
    return TransformerShape.of(
        hidden,
        words,
        new StackShape(
            StackShape.repeated(block, config.layers("num_hidden_layers")),
            true,
            last ? Optional.of(norm) : Optional.empty()),
        config.scores(true),
        positions);
  }

  static TransformerShape bert(ConfigFields config) {
    int hidden = config.number(HIDDEN);
    GroupedQuery attention = GroupedQuery.biased(config.number(HEADS), config.share(HIDDEN, HEADS));
    int positions = config.number("max_position_embeddings");
    InputShape.Words words =
        new InputShape.Words(
            config.number("vocab_size"),
            hidden,
            new Positions.Learned(positions),
            config.number("type_vocab_size", 0),
            Optional.of(NormShape.LAYER));
    return TransformerShape.of(
        hidden,
        words,
        stack(
            config.layers("num_hidden_layers"),
            block(attention, config.number(WIDTH)),
            config.flag("is_decoder", false),
            false),
        bertHead(config),
        positions);
  }

  private static List<HeadPart> bertHead(ConfigFields config) {
    HeadPart transform = new HeadPart.Transform(NormShape.LAYER);
    HeadPart scores = new HeadPart.Scores(config.tied(true), true);
    String architecture = architecture(config, "BertModel");
    return switch (architecture) {
      case "BertModel" -> List.of(new HeadPart.Pooler());
      case "BertForMaskedLM", "BertLMHeadModel" -> List.of(transform, scores);
      case "BertForPreTraining" ->
          List.of(transform, scores, new HeadPart.Pooler(), new HeadPart.Classes(2));
      case "BertForSequenceClassification" ->
          List.of(new HeadPart.Pooler(), new HeadPart.Classes(labels(config)));
      default -> throw unknown(config, architecture);
    };
  }

  static TransformerShape vit(ConfigFields config) {
    int hidden = config.number(HIDDEN);
    int heads = config.number(HEADS);
    GroupedQuery attention =
        new GroupedQuery(
            heads,
            heads,
            config.share(HIDDEN, HEADS),
            config.flag("qkv_bias", true),
            true,
            QueryKeyNorm.NONE,
            false);
    InputShape.Patches patches =
        new InputShape.Patches(
            config.number("image_size"),
            config.number("patch_size"),
            config.number("num_channels"));
    String architecture = architecture(config, "ViTModel");
    HeadPart head =
        switch (architecture) {
          case "ViTModel" -> new HeadPart.Pooler();
          case "ViTForImageClassification" -> new HeadPart.Classes(labels(config));
          default -> throw unknown(config, architecture);
        };
    return TransformerShape.of(
        hidden,
        patches,
        stack(
            config.layers("num_hidden_layers"),
            block(attention, config.number(WIDTH)),
            false,
            true),
        List.of(head),
        patches.tokens());
  }

  /** No biases, RMS norms, learned scores of distances; heads × d_kv need not be d_model. */
  static TransformerShape t5(ConfigFields config) {
    int hidden = config.number("d_model");
    int layers = config.layers("num_layers");
    int heads = config.number("num_heads");
    GroupedQuery attention = GroupedQuery.plain(heads, heads, config.number("d_kv"));
    boolean gated = config.word("feed_forward_proj", "relu").startsWith("gated-");
    LayerShape block =
        LayerShape.of(attention, new Dense(config.number("d_ff"), gated, false), NormShape.RMS);
    LayerShape crossing =
        new LayerShape(
            attention, new AttentionSpan.Full(), block.feedForward(), NormShape.RMS, 3, true);
    Optional<NormShape> last = Optional.of(NormShape.RMS);
    StackShape encoder = new StackShape(StackShape.repeated(block, layers), false, last);
    InputShape.Words words =
        InputShape.Words.of(
            config.number("vocab_size"),
            hidden,
            new Positions.Relative(config.number("relative_attention_num_buckets")));
    int sequence = config.number("n_positions");
    String architecture = architecture(config, "T5ForConditionalGeneration");
    if (architecture.equals("T5EncoderModel")) {
      return TransformerShape.of(hidden, words, encoder, List.of(), sequence);
    }
    List<HeadPart> head =
        switch (architecture) {
          case "T5ForConditionalGeneration", "T5WithLMHeadModel" ->
              List.of(new HeadPart.Scores(config.tied(true), false));
          case "T5Model" -> List.of();
          default -> throw unknown(config, architecture);
        };
    int decoderLayers =
        config.says("num_decoder_layers") ? config.layers("num_decoder_layers") : layers;
    return new TransformerShape(
        hidden,
        words,
        Optional.of(encoder),
        new StackShape(StackShape.repeated(crossing, decoderLayers), true, last),
        head,
        Optional.empty(),
        sequence);
  }

  private static LayerShape block(GroupedQuery attention, int width) {
    return LayerShape.of(attention, new Dense(width, false, true), NormShape.LAYER);
  }

  private static StackShape stack(int layers, LayerShape block, boolean causal, boolean last) {
    return new StackShape(
        StackShape.repeated(block, layers),
        causal,
        last ? Optional.of(NormShape.LAYER) : Optional.empty());
  }

  private static String architecture(ConfigFields config, String usual) {
    List<String> all = config.architectures();
    return all.isEmpty() ? usual : all.get(0);
  }

  /** As many classes as have names; transformers takes two where there are none. */
  private static int labels(ConfigFields config) {
    return config.members("id2label").orElseGet(() -> config.optional("num_labels").orElse(2));
  }

  private static BadInputException unknown(ConfigFields config, String architecture) {
    return config
        .outer()
        .wrong(
            "the architecture "
                + ShownText.of(architecture)
                + " has a head that is not supported yet; name the model without it");
  }
}
