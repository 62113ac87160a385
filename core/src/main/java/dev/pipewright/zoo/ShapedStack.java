package dev.pipewright.zoo;

import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Shape;
import dev.pipewright.model.Work;
import dev.pipewright.model.transformer.HeadPart;
import dev.pipewright.model.transformer.InputShape.Positions;
import dev.pipewright.model.transformer.InputShape.Words;
import dev.pipewright.model.transformer.LayerShape;
import dev.pipewright.model.transformer.TransformerShape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A decoder as a chain of an embedding, blocks of any shape and a head that scores words. Attention
 * keeps no scores (FlashAttention).
 */
final class ShapedStack {
  private static final String EMBEDDING = "embedding";

  private final TransformerShape shape;
  private final Words words;
  private final HeadPart.Scores scores;
  private final int sequence;
  private final Shape boundary;
  private final long states;

  private ShapedStack(TransformerShape shape, Words words, HeadPart.Scores scores) {
    this.shape = shape;
    this.words = words;
    this.scores = scores;
    this.sequence = shape.sequence();
    this.boundary = Shape.of(sequence, shape.hidden());
    this.states = boundary.elements();
  }

  /** The network; empty where its input or its head is of another kind. */
  static Optional<LayerGraph> of(String name, TransformerShape shape) {
    boolean plain =
        shape.stack().causal()
            && shape.input() instanceof Words words
            && words.width() == shape.hidden()
            && words.segments() == 0
            && words.norm().isEmpty()
            && !(words.positions() instanceof Positions.Relative);
    return plain
            && shape.input() instanceof Words words
            && shape.head().size() == 1
            && shape.head().get(0) instanceof HeadPart.Scores scores
        ? Optional.of(new ShapedStack(shape, words, scores).graph(name))
        : Optional.empty();
  }

  private LayerGraph graph(String name) {
    List<Layer> layers = new ArrayList<>();
    layers.add(embedding());
    List<LayerShape> blocks = shape.stack().blocks();
    for (int i = 0; i < blocks.size(); i++) {
      layers.add(block("block-" + (i + 1), blocks.get(i)));
    }
    layers.add(head());
    return LayerGraph.chain(name, layers);
  }

  private Layer embedding() {
    int hidden = shape.hidden();
    Operator table = new Operator.Embedding(words.vocabulary(), hidden);
    Work work = new Work(states, states, states, 4.0 * states);
    Layer layer =
        new Layer(
            EMBEDDING,
            table,
            Optional.of(boundary),
            shape.inputParameters(),
            states,
            0, // what it makes is kept by the block that reads it
            work);
    return words.positions() instanceof Positions.Learned learned
        ? layer.then(new Operator.Positions(learned.rows(), hidden))
        : layer;
  }

  private Layer block(String name, LayerShape block) {
    int hidden = shape.hidden();
    boolean causal = shape.stack().causal();
    double all = sequence * block.flopsPerToken(hidden, sequence, causal);
    double unweighted = sequence * block.scoreFlops(sequence, causal);
    double products = all - unweighted;
    return new Layer(
        name,
        new Operator.ShapedBlock(block, hidden, sequence, causal, words.positions()),
        Optional.of(boundary),
        block.parameters(hidden),
        states,
        Math.round(
            sequence * block.keptElements(hidden, words.positions() instanceof Positions.Rotary)),
        new Work(
            all,
            products + 2 * unweighted, // no weights: their gradients are inputs'
            products,
            sequence * block.movedElements(hidden)));
  }

  private Layer head() {
    int hidden = shape.hidden();
    long logits = (long) sequence * words.vocabulary();
    double flop = 2.0 * hidden * logits;
    Operator product = new Operator.Linear(hidden, words.vocabulary(), scores.bias());
    long norm = shape.stack().last().map(kind -> kind.parameters(hidden)).orElse(0L);
    Layer layer =
        new Layer(
            "head",
            product,
            Optional.of(Shape.of(sequence, words.vocabulary())),
            norm + shape.headParameters(),
            logits,
            2 * states + logits, // inputs of normalisation and product, and the softmax
            new Work(flop, flop, flop, 5.0 * states + 3.0 * logits));
    List<Operator> steps = new ArrayList<>();
    shape.stack().last().ifPresent(kind -> steps.add(Operator.Normalization.of(kind, hidden)));
    steps.add(scores.tied() ? new Operator.TiedScores(EMBEDDING) : product);
    return layer.computing(List.copyOf(steps));
  }
}
