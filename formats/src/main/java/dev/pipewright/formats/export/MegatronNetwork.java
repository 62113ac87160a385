package dev.pipewright.formats.export;

import dev.pipewright.formats.model.TransformerConstants;
import dev.pipewright.model.transformer.AttentionShape;
import dev.pipewright.model.transformer.AttentionShape.GroupedQuery;
import dev.pipewright.model.transformer.AttentionShape.Latent;
import dev.pipewright.model.transformer.AttentionShape.QueryKeyNorm;
import dev.pipewright.model.transformer.AttentionSpan;
import dev.pipewright.model.transformer.FeedForwardShape;
import dev.pipewright.model.transformer.FeedForwardShape.Dense;
import dev.pipewright.model.transformer.FeedForwardShape.Mixture;
import dev.pipewright.model.transformer.HeadPart;
import dev.pipewright.model.transformer.InputShape.Positions;
import dev.pipewright.model.transformer.InputShape.Words;
import dev.pipewright.model.transformer.LayerShape;
import dev.pipewright.model.transformer.NormShape;
import dev.pipewright.model.transformer.TransformerShape;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Megatron-LM's arguments of a decoder, which {@code formats.transformer.MegatronFile} reads back.
 *
 * <p>Source: Megatron-LM, {@code megatron/training/arguments.py}, of 2026.
 */
final class MegatronNetwork {
  private final TransformerShape shape;
  private final Words words;
  private final boolean tied;
  private final boolean biasedScores;
  private final List<LayerShape> blocks;
  private final LayerShape block;

  private MegatronNetwork(TransformerShape shape, Words words, HeadPart.Scores scores) {
    this.shape = shape;
    this.words = words;
    this.tied = scores.tied();
    this.biasedScores = scores.bias();
    this.blocks = shape.stack().blocks();
    this.block = blocks.get(0);
  }

  private static MegatronNetwork of(TransformerShape shape) {
    if (shape.input() instanceof Words words
        && shape.head().get(0) instanceof HeadPart.Scores scores) {
      return new MegatronNetwork(shape, words, scores);
    }
    throw new IllegalArgumentException("no decoder of words");
  }

  /** The network is one that these arguments state. */
  static ExportRule rule() {
    return exported ->
        of(exported.shape().orElseThrow())
            .unknown()
            .map(what -> new Gap(exported.model() + ", which has " + what, Optional.empty()));
  }

  /** A part of the network that no argument states; empty where there is none. */
  private Optional<String> unknown() {
    if (words.width() != shape.hidden() || words.segments() > 0 || words.norm().isPresent()) {
      return Optional.of("an embedding of another width or with a norm");
    }
    if (biasedScores) {
      return Optional.of("biases of its words' scores");
    }
    if (words.positions() instanceof Positions.Relative) {
      return Optional.of("relative positions");
    }
    if (!Objects.equals(shape.stack().last(), Optional.of(block.norm()))) {
      return Optional.of("a last normalisation of another kind than its blocks'");
    }
    for (LayerShape each : blocks) {
      boolean alike =
          each.attention().equals(block.attention())
              && each.norm() == block.norm()
              && each.norms() == 2
              && each.norm() != NormShape.PLAIN;
      if (!alike) {
        return Optional.of("blocks with different attentions or norms");
      }
    }
    boolean spans =
        blocks.stream()
                .map(LayerShape::span)
                .filter(span -> !(span instanceof AttentionSpan.Full))
                .distinct()
                .count()
            > 1;
    if (spans || blocks.stream().anyMatch(b -> b.span() instanceof AttentionSpan.Chunk)) {
      return Optional.of("several spans of local attention, or chunks");
    }
    return unknownAttention().or(this::unknownFeedForward);
  }

  private Optional<String> unknownAttention() {
    return switch (block.attention()) {
      case GroupedQuery query -> {
        boolean norms =
            switch (query.norm()) {
              case NONE -> true;
              case HEAD -> block.norm() == NormShape.RMS;
              case LAYER_HEAD -> block.norm() == NormShape.LAYER;
              case ALL_HEADS, PLAIN -> false;
            };
        yield !norms
            ? Optional.of("norms of queries and keys of another kind")
            : query.outputBias() != biases() || (biases() && !query.inputBiases())
                ? Optional.of("biases in some of its products only")
                : Optional.empty();
      }
      case Latent latent ->
          latent.biases() || biases()
              ? Optional.of("latent attention with biases")
              : Optional.empty();
    };
  }

  private Optional<String> unknownFeedForward() {
    Optional<Dense> dense = dense();
    Optional<Mixture> mixture = mixture();
    for (LayerShape each : blocks) {
      boolean known =
          each.feedForward().equals(dense.orElse(null))
              || each.feedForward().equals(mixture.orElse(null));
      if (!known) {
        return Optional.of("feed-forward parts of more than two kinds");
      }
    }
    boolean alike =
        mixture.isEmpty()
            || (mixture.get().expert().gated() == gated()
                && mixture.get().expert().biases() == biases());
    return alike ? Optional.empty() : Optional.of("experts of another kind than its other parts");
  }

  private <T extends FeedForwardShape> Optional<T> first(Class<T> kind) {
    return blocks.stream()
        .map(LayerShape::feedForward)
        .filter(kind::isInstance)
        .map(kind::cast)
        .findFirst();
  }

  private Optional<Dense> dense() {
    return first(Dense.class);
  }

  private Optional<Mixture> mixture() {
    return first(Mixture.class);
  }

  private Dense inner() {
    return dense().orElseGet(() -> mixture().orElseThrow().expert());
  }

  private boolean biases() {
    return inner().biases();
  }

  private boolean gated() {
    return inner().gated();
  }

  /** The arguments of a decoder that passes {@link #rule}. */
  static Flags flags(TransformerShape shape, TransformerConstants constants) {
    MegatronNetwork network = of(shape);
    Flags flags = network.flags(constants);
    MegatronConstants.add(flags, constants, network.isRotary());
    return flags;
  }

  /** Constants that the source of a network does not state, or that no argument does. */
  static List<String> unstated(TransformerShape shape, TransformerConstants constants) {
    MegatronNetwork network = of(shape);
    List<String> sentences =
        new ArrayList<>(MegatronConstants.unstated(constants, network.isRotary()));
    MegatronActivation.unstated(constants, network.gated()).ifPresent(sentences::add);
    return sentences;
  }

  private boolean isRotary() {
    return words.positions() instanceof Positions.Rotary;
  }

  private Flags flags(TransformerConstants constants) {
    Flags flags =
        new Flags()
            .add("--num-layers", blocks.size())
            .add("--hidden-size", shape.hidden())
            .add("--ffn-hidden-size", inner().width())
            .add("--num-attention-heads", block.attention().heads());
    addAttention(flags, block.attention());
    flags.add("--seq-length", shape.sequence());
    int positions =
        words.positions() instanceof Positions.Learned learned ? learned.rows() : shape.sequence();
    flags
        .add("--max-position-embeddings", positions)
        .add(
            "--position-embedding-type",
            switch (words.positions()) {
              case Positions.Learned learned -> "learned_absolute";
              case Positions.Rotary rotary -> "rope";
              case Positions.Fixed fixed -> "none";
              case Positions.Relative relative -> "relative";
            })
        .add("--vocab-size", words.vocabulary())
        .add("--normalization", block.norm() == NormShape.RMS ? "RMSNorm" : "LayerNorm");
    MegatronActivation.add(flags, constants, gated());
    flags
        .addIf(!biases(), "--disable-bias-linear")
        .addIf(!tied, "--untie-embeddings-and-output-weights");
    mixture().ifPresent(mixture -> addMixture(flags, mixture));
    addSpans(flags);
    return flags;
  }

  private void addAttention(Flags flags, AttentionShape attention) {
    switch (attention) {
      case GroupedQuery query ->
          flags
              .addIf(query.keyValueHeads() != query.heads(), "--group-query-attention")
              .addIf(
                  query.keyValueHeads() != query.heads(),
                  "--num-query-groups",
                  query.keyValueHeads())
              .addIf(
                  query.heads() * query.headWidth() != shape.hidden(),
                  "--kv-channels",
                  query.headWidth())
              .addIf(query.inputBiases() && !biases(), "--add-qkv-bias")
              .addIf(query.norm() != QueryKeyNorm.NONE, "--qk-layernorm")
              .addIf(query.sinks(), "--softmax-type", "learnable");
      case Latent latent -> {
        flags.add("--multi-latent-attention");
        latent.queryRank().ifPresent(rank -> flags.add("--q-lora-rank", rank));
        flags
            .add("--kv-lora-rank", latent.keyValueRank())
            .add("--qk-head-dim", latent.plainWidth())
            .add("--qk-pos-emb-head-dim", latent.rotaryWidth())
            .add("--v-head-dim", latent.valueWidth())
            .addIf(latent.latentNorms(), "--qk-layernorm");
      }
    }
  }

  private void addMixture(Flags flags, Mixture mixture) {
    flags
        .add("--num-experts", mixture.experts())
        .add("--moe-router-topk", mixture.chosen())
        .add("--moe-ffn-hidden-size", mixture.expert().width())
        .addIf(mixture.routerBias(), "--moe-router-enable-expert-bias")
        .addIf(
            mixture.shared().isPresent(),
            "--moe-shared-expert-intermediate-size",
            mixture.shared().map(Dense::width).orElse(0))
        .addIf(mixture.sharedGate(), "--moe-shared-expert-gate")
        .addIf(dense().isPresent(), "--moe-layer-freq", pattern(Mixture.class, true));
  }

  private void addSpans(Flags flags) {
    Optional<AttentionSpan.Window> window =
        blocks.stream()
            .map(LayerShape::span)
            .filter(AttentionSpan.Window.class::isInstance)
            .map(AttentionSpan.Window.class::cast)
            .findFirst();
    if (window.isPresent()) {
      flags.add("--window-size", (window.get().tokens() - 1) + ",0");
      flags.addIf(
          blocks.stream().anyMatch(b -> b.span() instanceof AttentionSpan.Full),
          "--window-attn-skip-freq",
          pattern(AttentionSpan.Window.class, false));
    }
  }

  /** {@code ([0]*3+[1]*58)}: which blocks have a part of a kind. */
  private String pattern(Class<?> kind, boolean feedForward) {
    StringBuilder text = new StringBuilder();
    int next = 0;
    List<Boolean> marks =
        blocks.stream()
            .map(b -> kind.isInstance(feedForward ? b.feedForward() : b.span()))
            .collect(Collectors.toList());
    while (next < marks.size()) {
      int end = next;
      while (end < marks.size() && marks.get(end).equals(marks.get(next))) {
        end++;
      }
      text.append(next == 0 ? "(" : "+");
      text.append(marks.get(next) ? "[1]*" : "[0]*").append(end - next);
      next = end;
    }
    return text.append(")").toString();
  }
}
