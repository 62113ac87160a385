package dev.pipewright.formats.answer;

import dev.pipewright.formats.json.JsonText;
import dev.pipewright.model.transformer.AttentionShape;
import dev.pipewright.model.transformer.AttentionSpan;
import dev.pipewright.model.transformer.FeedForwardShape;
import dev.pipewright.model.transformer.HeadPart;
import dev.pipewright.model.transformer.InputShape;
import dev.pipewright.model.transformer.InputShape.Positions;
import dev.pipewright.model.transformer.LayerShape;
import dev.pipewright.model.transformer.StackShape;
import dev.pipewright.model.transformer.TransformerShape;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A transformer's shape and counts as members of an answer: elements, FLOP, and for equal blocks
 * their layers, attention and feed-forward part.
 */
public final class TransformerJson {
  private TransformerJson() {}

  /**
   * The members.
   *
   * @param sequence tokens of the sequence that the FLOP of a token are for
   */
  public static Map<String, Object> members(TransformerShape shape, int sequence) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("parameters", shape.parameters());
    object.put("active_parameters", shape.activeParameters());
    if (shape.prediction().isPresent()) {
      object.put("prediction_parameters", shape.predictionParameters());
    }
    object.put("input_parameters", shape.inputParameters());
    object.put("head_parameters", shape.headParameters());
    object.put("layers", shape.layers());
    object.put("hidden", shape.hidden());
    if (shape.input() instanceof InputShape.Words words) {
      object.put("vocabulary", words.vocabulary());
    }
    object.put("positions", positions(shape.input().positions()));
    shape.head().stream()
        .filter(HeadPart.Scores.class::isInstance)
        .forEach(part -> object.put("tied", ((HeadPart.Scores) part).tied()));
    object.put("longest_sequence", shape.sequence());
    object.put("sequence", sequence);
    object.put("forward_flops_per_token", shape.forwardFlopsPerToken(sequence));
    object.put("flops_per_token", shape.flopsPerToken(sequence));
    shape.encoder().ifPresent(encoder -> object.put("encoder_blocks", blocks(shape, encoder)));
    object.put("blocks", blocks(shape, shape.stack()));
    return object;
  }

  private static String positions(Positions positions) {
    return switch (positions) {
      case Positions.Rotary rotary -> "rotary";
      case Positions.Learned learned -> "learned";
      case Positions.Relative relative -> "relative";
      case Positions.Fixed fixed -> "fixed";
    };
  }

  /** Equal blocks together, with the first and last layer of each run, from 0. */
  private static List<Map<String, Object>> blocks(TransformerShape shape, StackShape stack) {
    Map<LayerShape, List<List<Integer>>> layers = new LinkedHashMap<>();
    int first = 0;
    for (StackShape.Run run : stack.runs()) {
      layers
          .computeIfAbsent(run.block(), kind -> new ArrayList<>())
          .add(List.of(first, first + run.count() - 1));
      first += run.count();
    }
    List<Map<String, Object>> blocks = new ArrayList<>();
    layers.forEach((block, runs) -> {
      Map<String, Object> object = JsonText.pair("layers", runs, "causal", stack.causal());
      object.put("parameters", block.parameters(shape.hidden()));
      object.put("active_parameters", block.activeParameters(shape.hidden()));
      object.put("attention", attention(block));
      object.put("feed_forward", feedForward(block.feedForward()));
      blocks.add(object);
    });
    return blocks;
  }

  private static Map<String, Object> attention(LayerShape block) {
    Map<String, Object> object = new LinkedHashMap<>();
    switch (block.attention()) {
      case AttentionShape.GroupedQuery grouped -> {
        object.put("kind", "grouped-query");
        object.put("heads", grouped.heads());
        object.put("key_value_heads", grouped.keyValueHeads());
        object.put("head_width", grouped.headWidth());
      }
      case AttentionShape.Latent latent -> {
        object.put("kind", "latent");
        object.put("heads", latent.heads());
        latent.queryRank().ifPresent(rank -> object.put("query_rank", rank));
        object.put("key_value_rank", latent.keyValueRank());
        object.put("plain_width", latent.plainWidth());
        object.put("rotary_width", latent.rotaryWidth());
        object.put("value_width", latent.valueWidth());
      }
    }
    switch (block.span()) {
      case AttentionSpan.Full full -> {}
      case AttentionSpan.Window window -> object.put("window", window.tokens());
      case AttentionSpan.Chunk chunk -> object.put("chunk", chunk.tokens());
    }
    if (block.crossAttention()) {
      object.put("cross_attention", true);
    }
    return object;
  }

  private static Map<String, Object> feedForward(FeedForwardShape part) {
    Map<String, Object> object = new LinkedHashMap<>();
    switch (part) {
      case FeedForwardShape.Dense dense -> {
        object.put("kind", "dense");
        object.put("width", dense.width());
        object.put("gated", dense.gated());
      }
      case FeedForwardShape.Mixture mixture -> {
        object.put("kind", "mixture");
        object.put("experts", mixture.experts());
        object.put("experts_per_token", mixture.chosen());
        object.put("expert_width", mixture.expert().width());
        object.put("gated", mixture.expert().gated());
        mixture.shared().ifPresent(shared -> object.put("shared_width", shared.width()));
      }
    }
    return object;
  }
}
