package dev.pipewright.app.cli.catalog;

import dev.pipewright.app.cli.terminal.Terminal;
import dev.pipewright.model.transformer.AttentionShape;
import dev.pipewright.model.transformer.AttentionSpan;
import dev.pipewright.model.transformer.FeedForwardShape;
import dev.pipewright.model.transformer.HeadPart;
import dev.pipewright.model.transformer.InputShape;
import dev.pipewright.model.transformer.InputShape.Positions;
import dev.pipewright.model.transformer.LayerShape;
import dev.pipewright.model.transformer.StackShape;
import dev.pipewright.model.transformer.TransformerShape;
import dev.pipewright.units.Units;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/** A transformer's shape and counts for a terminal. */
final class TransformerText {
  private static final int LABEL = 14;

  private final StringBuilder out = new StringBuilder();

  private TransformerText() {}

  /**
   * A line for each aspect.
   *
   * @param sequence tokens of the sequence that the FLOP of a token are for
   */
  static String of(TransformerShape shape, int sequence) {
    TransformerText text = new TransformerText();
    text.counts(shape);
    text.ends(shape);
    shape.encoder().ifPresent(encoder -> text.blocks("encoder", encoder));
    text.blocks(shape.encoder().isPresent() ? "decoder" : "blocks", shape.stack());
    text.line(
        "arithmetic",
        "%s forward and %s for a training step, for each token of a sequence of %s"
            .formatted(
                Units.decimal(shape.forwardFlopsPerToken(sequence), "FLOP"),
                Units.decimal(shape.flopsPerToken(sequence), "FLOP"),
                count(sequence)));
    return text.out.toString();
  }

  private void line(String label, String words) {
    String start = "  " + label;
    String padded = start + " ".repeat(Math.max(1, LABEL - start.length()));
    out.append(Terminal.sentence(padded + words, LABEL));
  }

  private void counts(TransformerShape shape) {
    long parameters = shape.parameters();
    long active = shape.activeParameters();
    line(
        "parameters",
        "%s (%s)".formatted(count(parameters), Units.decimal((double) parameters, "")));
    if (active < parameters) {
      line(
          "active",
          "%s (%s) for each token".formatted(count(active), Units.decimal((double) active, "")));
    }
    shape
        .prediction()
        .ifPresent(prediction ->
            line(
                "in addition",
                "%s (%s) for %d token%s of multi-token prediction"
                    .formatted(
                        count(shape.predictionParameters()),
                        Units.decimal((double) shape.predictionParameters(), ""),
                        prediction.depth(),
                        prediction.depth() == 1 ? "" : "s")));
  }

  private void ends(TransformerShape shape) {
    String states = count(shape.hidden()) + " features";
    switch (shape.input()) {
      case InputShape.Words words -> {
        line("states", states + ", " + positions(words.positions()));
        boolean tied =
            shape.head().stream()
                .anyMatch(part -> part instanceof HeadPart.Scores scores && scores.tied());
        boolean scored = shape.head().stream().anyMatch(HeadPart.Scores.class::isInstance);
        String head =
            scored ? tied ? ", table shared with the head" : ", head with a table of its own" : "";
        line("words", count(words.vocabulary()) + head);
      }
      case InputShape.States given -> line("states", states);
      case InputShape.Patches patches ->
          line(
              "states",
              "%s of each of %s tokens: patches of %d × %d of an image of %d × %d, and one more"
                  .formatted(
                      states,
                      count(patches.tokens()),
                      patches.patch(),
                      patches.patch(),
                      patches.image(),
                      patches.image()));
    }
  }

  private static String positions(Positions positions) {
    return switch (positions) {
      case Positions.Rotary rotary -> "rotary positions";
      case Positions.Learned learned -> count(learned.rows()) + " learned positions";
      case Positions.Relative relative ->
          "learned scores of " + count(relative.buckets()) + " classes of distances";
      case Positions.Fixed fixed -> "no learned positions";
    };
  }

  private void blocks(String label, StackShape stack) {
    Map<String, Integer> kinds = new LinkedHashMap<>();
    for (StackShape.Run run : stack.runs()) {
      kinds.merge(words(run.block()), run.count(), Integer::sum);
    }
    String shown = label;
    for (Map.Entry<String, Integer> kind : kinds.entrySet()) {
      line(shown, kind.getValue() + " × " + kind.getKey());
      shown = "";
    }
  }

  private static String words(LayerShape block) {
    String attention =
        switch (block.attention()) {
          case AttentionShape.GroupedQuery grouped ->
              "attention of %d heads of %d features%s"
                  .formatted(
                      grouped.heads(),
                      grouped.headWidth(),
                      grouped.keyValueHeads() == grouped.heads()
                          ? ""
                          : ", %d of keys and values".formatted(grouped.keyValueHeads()));
          case AttentionShape.Latent latent ->
              "latent attention of %d heads (ranks %s%d, features %d + %d rotary, values %d)"
                  .formatted(
                      latent.heads(),
                      latent.queryRank().isPresent() ? latent.queryRank().getAsInt() + " and " : "",
                      latent.keyValueRank(),
                      latent.plainWidth(),
                      latent.rotaryWidth(),
                      latent.valueWidth());
        };
    String span =
        switch (block.span()) {
          case AttentionSpan.Full full -> "";
          case AttentionSpan.Window window -> " in a window of " + count(window.tokens());
          case AttentionSpan.Chunk chunk -> " in chunks of " + count(chunk.tokens());
        };
    String cross = block.crossAttention() ? ", cross-attention" : "";
    return attention + span + cross + "; " + words(block.feedForward());
  }

  private static String words(FeedForwardShape part) {
    return switch (part) {
      case FeedForwardShape.Dense dense -> words(dense);
      case FeedForwardShape.Mixture mixture ->
          "%d of %d experts, each %s%s"
              .formatted(
                  mixture.chosen(),
                  mixture.experts(),
                  words(mixture.expert()),
                  mixture
                      .shared()
                      .map(shared -> ", and a shared one, " + words(shared))
                      .orElse(""));
    };
  }

  private static String words(FeedForwardShape.Dense dense) {
    return "a %s feed-forward part of %s"
        .formatted(dense.gated() ? "gated" : "plain", count(dense.width()));
  }

  private static String count(long number) {
    return String.format(Locale.ROOT, "%,d", number);
  }
}
