package dev.pipewright.zoo;

import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.transformer.AttentionShape.GroupedQuery;
import dev.pipewright.model.transformer.AttentionSpan;
import dev.pipewright.model.transformer.FeedForwardShape.Dense;
import dev.pipewright.model.transformer.HeadPart;
import dev.pipewright.model.transformer.InputShape;
import dev.pipewright.model.transformer.InputShape.Positions;
import dev.pipewright.model.transformer.LayerShape;
import dev.pipewright.model.transformer.NormShape;
import dev.pipewright.model.transformer.TransformerShape;
import java.util.List;
import java.util.Optional;

/**
 * Transformers as graphs: of {@link TransformerBlock}s, which the runtime trains, where these
 * express the shape exactly (equal blocks with layer norms, biases everywhere, and a plain
 * feed-forward part four times as wide); other decoders, with and without an encoder or multi-token
 * prediction, as a {@link ShapedStack}.
 */
final class ShapedGraphs {
  private ShapedGraphs() {}

  /** Throws {@link IllegalArgumentException} that says what is not supported yet. */
  static LayerGraph of(String name, TransformerShape shape) {
    boolean alone = shape.encoder().isEmpty() && shape.prediction().isEmpty();
    Optional<LayerGraph> graph =
        Optional.of(shape)
            .filter(one -> alone && isPlain(one))
            .flatMap(plain -> expressed(name, plain))
            .or(() -> ShapedStack.of(name, shape));
    if (graph.isPresent()) {
      return graph.get();
    }
    boolean shared = shape.prediction().isPresent();
    throw new IllegalArgumentException(
        (shared
                ? "multi-token prediction whose head reads the embedding's table"
                : "its embedding or its head")
            + " cannot be planned layer by layer yet; `pipewright predict` with --tensor and --pipeline predicts a layout, and a profile of the network can be planned");
  }

  /** Whether all blocks are GPT-2's: with its widths, norms and biases. */
  private static boolean isPlain(TransformerShape shape) {
    LayerShape block = shape.stack().blocks().get(0);
    return shape.stack().runs().size() == 1
        && block.norm() == NormShape.LAYER
        && block.norms() == 2
        && block.span() instanceof AttentionSpan.Full
        && block.feedForward().equals(new Dense(4 * shape.hidden(), false, true))
        && block.attention() instanceof GroupedQuery attention
        && attention.equals(GroupedQuery.biased(attention.heads(), attention.headWidth()))
        && attention.queryWidth() == shape.hidden();
  }

  private static Optional<LayerGraph> expressed(String name, TransformerShape shape) {
    int layers = shape.layers();
    int heads = shape.stack().blocks().get(0).attention().heads();
    boolean normed = shape.stack().last().equals(Optional.of(NormShape.LAYER));
    if (shape.input() instanceof InputShape.Patches patches) {
      boolean plain = normed && !shape.stack().causal() && patches.channels() == 3;
      return plain
              && shape.head().size() == 1
              && shape.head().get(0) instanceof HeadPart.Classes classes
          ? Optional.of(
              new VisionTransformer(
                      layers,
                      shape.hidden(),
                      heads,
                      patches.patch(),
                      patches.image(),
                      classes.classes())
                  .graph(name))
          : Optional.empty();
    }
    if (!(shape.input() instanceof InputShape.Words words)) {
      return Optional.empty();
    }
    if (words.width() != shape.hidden()
        || !(words.positions() instanceof Positions.Learned learned)) {
      return Optional.empty();
    }
    int rows = learned.rows();
    if (shape.stack().causal()) {
      boolean plain =
          normed && words.segments() == 0 && words.norm().isEmpty() && rows == shape.sequence();
      Transformer gpt = Transformer.gpt(layers, shape.hidden(), heads, rows, words.vocabulary());
      if (plain && shape.head().equals(List.of(new HeadPart.Scores(true, false)))) {
        return Optional.of(gpt.gpt(name));
      }
      return plain && shape.head().equals(List.of(new HeadPart.Scores(false, true)))
          ? Optional.of(gpt.gptWithOwnHead(name))
          : Optional.empty();
    }
    boolean bert =
        shape.stack().last().isEmpty()
            && words.segments() == 2
            && words.norm().equals(Optional.of(NormShape.LAYER))
            && rows == Math.max(512, shape.sequence())
            && shape.head().equals(List.of(new HeadPart.Pooler()));
    return bert
        ? Optional.of(
            Transformer.bert(layers, shape.hidden(), heads, shape.sequence(), words.vocabulary())
                .bert(name))
        : Optional.empty();
  }
}
