package dev.pipewright.formats.transformer;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.ShownText;
import dev.pipewright.model.transformer.AttentionShape;
import dev.pipewright.model.transformer.AttentionShape.GroupedQuery;
import dev.pipewright.model.transformer.AttentionShape.Latent;
import dev.pipewright.model.transformer.AttentionShape.QueryKeyNorm;
import dev.pipewright.model.transformer.AttentionSpan;
import dev.pipewright.model.transformer.FeedForwardShape;
import dev.pipewright.model.transformer.FeedForwardShape.Dense;
import dev.pipewright.model.transformer.FeedForwardShape.Mixture;
import dev.pipewright.model.transformer.HeadPart;
import dev.pipewright.model.transformer.InputShape;
import dev.pipewright.model.transformer.InputShape.Positions;
import dev.pipewright.model.transformer.LayerShape;
import dev.pipewright.model.transformer.NormShape;
import dev.pipewright.model.transformer.StackShape;
import dev.pipewright.model.transformer.TokenPrediction;
import dev.pipewright.model.transformer.TransformerShape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * The network that Megatron builds for a GPT with given arguments and the defaults of the others.
 *
 * <p>Source: Megatron-LM, {@code megatron/training/arguments.py} and {@code
 * megatron/core/transformer/transformer_config.py}, of 2026.
 */
final class MegatronShape {
  /** What other networks than a GPT of equal kinds of layers are asked for by. */
  private static final List<String> UNSUPPORTED =
      List.of(
          "hybrid-layer-pattern",
          "hybrid-override-pattern",
          "hybrid-attention-ratio",
          "is-hybrid-model",
          "heterogeneous-layers-config-path",
          "heterogeneous-layers-config-encoded-json",
          "experimental-attention-variant",
          "linear-attention-type",
          "linear-attention-freq",
          "moe-latent-size",
          "attention-output-gate",
          "retro-add-retriever",
          "decoder-num-layers");

  /** What a log says of those that are not asked for. */
  private static final Set<String> OFF = Set.of("False", "0", "0.0", "false");

  private static final int MLA_KEY_VALUE_RANK = 32;

  private final MegatronArguments arguments;
  private final int hidden;
  private final int heads;
  private final int layers;
  private final boolean biases;
  private final boolean gated;
  private final NormShape norm;
  private final int width;

  private MegatronShape(MegatronArguments arguments) {
    this.arguments = arguments;
    hidden = arguments.number("hidden-size");
    heads = arguments.number("num-attention-heads");
    layers = arguments.number("num-layers");
    biases = !arguments.flag("disable-bias-linear") && addsBiases();
    gated = arguments.flag("swiglu") || arguments.flag("quick-geglu");
    norm =
        arguments.word("normalization", List.of("LayerNorm", "RMSNorm")).equals("RMSNorm")
            ? NormShape.RMS
            : NormShape.LAYER;
    width = arguments.number("ffn-hidden-size", usualWidth());
  }

  /** {@code add_bias_linear} stands in a log in place of the flag. */
  private boolean addsBiases() {
    return !arguments.says("add-bias-linear") || arguments.flag("add-bias-linear");
  }

  private int usualWidth() {
    long fourfold = 4L * hidden;
    long usual = arguments.flag("swiglu") ? fourfold * 2 / 3 / 64 * 64 : fourfold;
    return Math.toIntExact(usual);
  }

  /** Throws {@link BadInputException} where a value is wrong or a kind of layer is not known. */
  static TransformerShape of(MegatronArguments arguments, int vocabulary) {
    for (String name : UNSUPPORTED) {
      if (arguments.word(name).filter(value -> !OFF.contains(value)).isPresent()) {
        throw arguments.wrong(
            name, "--%s is not supported yet; give a GPT without it".formatted(name));
      }
    }
    try {
      return new MegatronShape(arguments).shape(vocabulary);
    } catch (BadInputException e) {
      throw e;
    } catch (ArithmeticException e) {
      throw arguments.wrong("hidden-size", "the sizes are too large to count with; correct them");
    } catch (IllegalArgumentException e) {
      throw arguments.wrong("num-layers", String.valueOf(e.getMessage()));
    }
  }

  private TransformerShape shape(int vocabulary) {
    if (layers < 1 || layers > StackShape.MOST_BLOCKS) {
      throw arguments.wrong(
          "num-layers",
          "--num-layers is %d; expected 1 to %d".formatted(layers, StackShape.MOST_BLOCKS));
    }
    List<LayerShape> blocks = new ArrayList<>();
    AttentionShape attention = attention();
    List<FeedForwardShape> parts = feedForward();
    List<AttentionSpan> spans = spans();
    for (int layer = 0; layer < layers; layer++) {
      blocks.add(new LayerShape(attention, spans.get(layer), parts.get(layer), norm, 2, false));
    }
    int depth = arguments.number("mtp-num-layers", 0);
    boolean untied = arguments.flag("untie-embeddings-and-output-weights");
    OptionalInt longest = arguments.optional("max-position-embeddings");
    return new TransformerShape(
        hidden,
        InputShape.Words.of(vocabulary, hidden, positions()),
        Optional.empty(),
        new StackShape(blocks, true, Optional.of(norm)),
        List.of(new HeadPart.Scores(!untied, false)),
        depth == 0
            ? Optional.empty()
            : Optional.of(new TokenPrediction(depth, blocks.get(layers - 1))),
        arguments
            .optional("seq-length")
            .orElseGet(() -> longest.orElseGet(() -> arguments.number("seq-length"))));
  }

  private Positions positions() {
    String kind =
        arguments.word(
            "position-embedding-type",
            List.of("learned_absolute", "rope", "yarn", "mrope", "none"));
    if (arguments.flag("use-rotary-position-embeddings")) {
      return new Positions.Rotary();
    }
    boolean none =
        arguments.flag("no-position-embedding")
            || (arguments.says("add-position-embedding")
                && !arguments.flag("add-position-embedding"));
    boolean learned = kind.equals("learned_absolute");
    if (kind.equals("none") || (learned && none)) {
      return new Positions.Fixed();
    }
    return learned
        ? new Positions.Learned(arguments.number("max-position-embeddings"))
        : new Positions.Rotary();
  }

  private AttentionShape attention() {
    boolean normed = arguments.flag("qk-layernorm");
    if (arguments.flag("multi-latent-attention")) {
      if (biases) {
        throw arguments.wrong(
            "multi-latent-attention",
            "--multi-latent-attention with biases is not supported yet; add --disable-bias-linear");
      }
      if (norm != NormShape.RMS && normed) {
        throw arguments.wrong(
            "normalization",
            "--qk-layernorm of latent attention with LayerNorm is not supported yet; write --normalization RMSNorm");
      }
      return new Latent(
          heads,
          arguments.optional("q-lora-rank"),
          arguments.number("kv-lora-rank", MLA_KEY_VALUE_RANK),
          arguments.number("qk-head-dim", 128),
          arguments.number("qk-pos-emb-head-dim", 64),
          arguments.number("v-head-dim", 128),
          false,
          normed);
    }
    boolean sinks = arguments.word("softmax-type").equals(Optional.of("learnable"));
    return new GroupedQuery(
        heads,
        arguments.flag("group-query-attention") ? arguments.number("num-query-groups", 1) : heads,
        arguments.optional("kv-channels").orElseGet(this::headWidth),
        biases || arguments.flag("add-qkv-bias"),
        biases,
        !normed
            ? QueryKeyNorm.NONE
            : norm == NormShape.RMS ? QueryKeyNorm.HEAD : QueryKeyNorm.LAYER_HEAD,
        sinks);
  }

  private int headWidth() {
    if (heads < 1 || hidden % heads != 0) {
      throw arguments.wrong(
          "num-attention-heads",
          "--hidden-size %d is no multiple of --num-attention-heads %d; correct one or add --kv-channels"
              .formatted(hidden, heads));
    }
    return hidden / heads;
  }

  private List<FeedForwardShape> feedForward() {
    Dense dense = new Dense(width, gated, biases);
    List<FeedForwardShape> parts = new ArrayList<>();
    OptionalInt experts = arguments.optional("num-experts");
    if (experts.isEmpty()) {
      for (int layer = 0; layer < layers; layer++) {
        parts.add(dense);
      }
      return parts;
    }
    OptionalInt shared = arguments.optional("moe-shared-expert-intermediate-size");
    Mixture mixture =
        new Mixture(
            experts.getAsInt(),
            arguments.number("moe-router-topk", 2),
            new Dense(arguments.number("moe-ffn-hidden-size", width), gated, biases),
            arguments.flag("moe-router-enable-expert-bias"),
            shared.isPresent()
                ? Optional.of(new Dense(shared.getAsInt(), gated, biases))
                : Optional.empty(),
            arguments.flag("moe-shared-expert-gate"));
    for (boolean mixed : pattern("moe-layer-freq", true)) {
      parts.add(mixed ? mixture : dense);
    }
    return parts;
  }

  private List<AttentionSpan> spans() {
    Optional<String> window = arguments.word("window-size");
    List<AttentionSpan> spans = new ArrayList<>();
    if (window.isEmpty()) {
      for (int layer = 0; layer < layers; layer++) {
        spans.add(new AttentionSpan.Full());
      }
      return spans;
    }
    String before = window.get().replaceAll("[()\\s]", "").replaceFirst(",0$", "");
    if (!before.matches("\\d{1,7}")) {
      throw arguments.wrong(
          "window-size",
          "--window-size is %s; expected tokens before and after, like 127,0"
              .formatted(ShownText.of(window.get())));
    }
    AttentionSpan near = new AttentionSpan.Window(Integer.parseInt(before) + 1);
    List<Boolean> windows =
        arguments.says("window-attn-skip-freq")
            ? pattern("window-attn-skip-freq", false)
            : Collections.nCopies(layers, true);
    windows.forEach(local -> spans.add(local ? near : new AttentionSpan.Full()));
    return spans;
  }

  /**
   * Which layers an argument marks: a list of zeros and ones, or a number N. Of experts, each N-th
   * layer from the first on has them; of windows, each N-th layer has none.
   */
  private List<Boolean> pattern(String name, boolean experts) {
    String text = arguments.word(name).orElse("1");
    List<Boolean> marked = new ArrayList<>();
    if (text.matches("\\d{1,6}")) {
      int every = Math.max(1, Integer.parseInt(text));
      for (int layer = 0; layer < layers; layer++) {
        marked.add(experts ? layer % every == 0 : (layer + 1) % every != 0);
      }
      return marked;
    }
    try {
      LayerPattern.parse(text, StackShape.MOST_BLOCKS).forEach(element -> marked.add(element != 0));
    } catch (IllegalArgumentException e) {
      throw arguments.wrong(name, "--%s %s".formatted(name, e.getMessage()));
    }
    if (marked.size() != layers) {
      throw arguments.wrong(
          name,
          "--%s lists %d layers, but --num-layers is %d; write one element for each"
              .formatted(name, marked.size(), layers));
    }
    return marked;
  }
}
