package dev.pipewright.formats.oracle;

import dev.pipewright.formats.transformer.LayerPattern;
import dev.pipewright.model.transformer.AttentionShape;
import dev.pipewright.model.transformer.FeedForwardShape.Dense;
import dev.pipewright.model.transformer.FeedForwardShape.Mixture;
import dev.pipewright.model.transformer.HeadPart;
import dev.pipewright.model.transformer.InputShape.Positions;
import dev.pipewright.model.transformer.InputShape.Words;
import dev.pipewright.model.transformer.LayerShape;
import dev.pipewright.model.transformer.NormShape;
import dev.pipewright.model.transformer.StackShape;
import dev.pipewright.model.transformer.TokenPrediction;
import dev.pipewright.model.transformer.TransformerShape;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Pattern;

/** The network of a row. */
final class RowNetwork {
  private static final int VOCABULARY = 50_257; // GPT-2's
  private static final Pattern LATENT = Pattern.compile("\\d{1,8}([;/ ]+\\d{1,8}){4}");

  private RowNetwork() {}

  static TransformerShape of(TrainingRow row, boolean megatronFlags) {
    int hidden = row.required("hidden");
    int heads = row.required("heads");
    int layers = row.required("layers");
    boolean gated = row.flag("gated", false);
    int usual = gated ? 64 * (int) (8L * hidden / 3 / 64) : 4 * hidden;
    int ffn = row.positive("ffn", usual);
    NormShape norm = row.text("norm").equals("layernorm") ? NormShape.LAYER : NormShape.RMS;
    AttentionShape attention = attention(row, hidden, heads);
    LayerShape dense = LayerShape.of(attention, new Dense(ffn, gated, false), norm);
    Optional<LayerShape> mixture =
        mixture(row, ffn, gated, megatronFlags).map(m -> LayerShape.of(attention, m, norm));
    List<LayerShape> blocks = new ArrayList<>(StackShape.repeated(dense, layers));
    mixture.ifPresent(block -> {
      List<Boolean> kinds = kinds(row, layers);
      for (int i = 0; i < layers; i++) {
        if (kinds.get(i)) {
          blocks.set(i, block);
        }
      }
    });
    int predictions = row.count("mtp", 0);
    return new TransformerShape(
        hidden,
        words(row, hidden, megatronFlags),
        Optional.empty(),
        new StackShape(blocks, true, Optional.of(norm)),
        List.of(new HeadPart.Scores(row.flag(tied(megatronFlags), true), false)),
        predictions == 0
            ? Optional.empty()
            : Optional.of(new TokenPrediction(predictions, mixture.orElse(dense))),
        row.required("sequence"));
  }

  private static String tied(boolean megatronFlags) {
    return megatronFlags ? "tied_embeddings" : "tied";
  }

  private static Words words(TrainingRow row, int hidden, boolean padded) {
    int vocabulary = row.positive("vocabulary", VOCABULARY);
    Words words = Words.of(vocabulary, hidden, positions(row));
    return padded ? words : words.padded(row.degree("tensor", 1));
  }

  private static Positions positions(TrainingRow row) {
    String kind = row.text("position") + row.text("position_embedding");
    int learned = row.count("max_position", 0);
    if (kind.startsWith("rope")) {
      return new Positions.Rotary();
    }
    return learned > 0 ? new Positions.Learned(learned) : new Positions.Fixed();
  }

  private static AttentionShape attention(TrainingRow row, int hidden, int heads) {
    String latent = row.text("mla");
    if (latent.equals("1")) {
      return latent(
          heads,
          row.count("q_lora", 0),
          row.required("kv_lora"),
          row.required("qk_nope"),
          row.required("qk_rope"),
          row.required("v_head"));
    }
    if (!latent.isEmpty() && !latent.equals("0")) {
      if (!LATENT.matcher(latent).matches()) {
        throw row.wrong(
            "mla",
            "mla=%s are not five sizes; write those of query, key-value, nope, rope and value like 1536;512;128;64;128"
                .formatted(latent));
      }
      List<Integer> sizes =
          Arrays.stream(latent.split("[;/ ]+", -1)).map(Integer::parseInt).toList();
      return latent(heads, sizes.get(0), sizes.get(1), sizes.get(2), sizes.get(3), sizes.get(4));
    }
    int width = row.positive("head_dim", Math.max(1, hidden / heads));
    return AttentionShape.GroupedQuery.plain(heads, row.positive("kv_heads", heads), width);
  }

  private static AttentionShape latent(
      int heads, int query, int keyValue, int plain, int rotary, int value) {
    OptionalInt rank = query == 0 ? OptionalInt.empty() : OptionalInt.of(query);
    return new AttentionShape.Latent(heads, rank, keyValue, plain, rotary, value, false, true);
  }

  private static Optional<Mixture> mixture(
      TrainingRow row, int ffn, boolean gated, boolean megatronFlags) {
    int experts = row.count("experts", 0);
    if (experts == 0) {
      return Optional.empty();
    }
    Dense expert = new Dense(row.positive("moe_ffn", ffn), gated, false);
    int shared = row.count(megatronFlags ? "shared_expert_ffn" : "shared_ffn", 0);
    Optional<Dense> common =
        shared == 0 ? Optional.empty() : Optional.of(new Dense(shared, gated, false));
    int chosen = row.positive("top_k", 2);
    return Optional.of(new Mixture(experts, chosen, expert, false, common, false));
  }

  /** Which layers are mixtures. */
  private static List<Boolean> kinds(TrainingRow row, int layers) {
    String frequency = row.text("moe_layer_freq");
    if (frequency.startsWith("(") || frequency.startsWith("[")) {
      List<Integer> pattern =
          row.checked("moe_layer_freq", () -> LayerPattern.parse(frequency, layers));
      if (pattern.size() != layers) {
        throw row.wrong(
            "moe_layer_freq",
            "moe_layer_freq lists %d layers of layers=%d; write one element for each"
                .formatted(pattern.size(), layers));
      }
      return pattern.stream().map(element -> element != 0).toList();
    }
    int every = row.positive(frequency.isEmpty() ? "moe_every" : "moe_layer_freq", 1);
    int first = row.count("dense_layers_first", 0);
    List<Boolean> kinds = new ArrayList<>();
    for (int i = 0; i < layers; i++) {
      kinds.add(i >= first && (i - first) % every == 0);
    }
    return kinds;
  }
}
