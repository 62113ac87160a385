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
import dev.pipewright.model.transformer.StackShape;
import dev.pipewright.model.transformer.TokenPrediction;
import dev.pipewright.model.transformer.TransformerShape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A decoder as a chain of an embedding, blocks of any shape and a head that scores words. Attention
 * keeps no scores (FlashAttention).
 *
 * <p>An encoder's blocks come before the decoder's. The embedding looks up both sequences, which
 * are equally long. What a later layer reads travels with the states in between: the decoder's
 * inputs through the encoder, and the encoder's output up to the last of the decoder's blocks,
 * which all read it.
 *
 * <p>Layers of multi-token prediction follow the last block. Each has the next token looked up in a
 * copy of the embedding's table, a product of both and a block; states travel on to the head, which
 * scores the last block's and those of each of these layers.
 */
final class ShapedStack {
  private static final String EMBEDDING = "embedding";
  private static final double JOINED = 4; // states that a prediction's product and norms keep

  private final TransformerShape shape;
  private final Words words;
  private final HeadPart.Scores scores;
  private final int sequence;
  private final int predictions;
  private final long states;

  private ShapedStack(TransformerShape shape, Words words, HeadPart.Scores scores) {
    this.shape = shape;
    this.words = words;
    this.scores = scores;
    this.sequence = shape.sequence();
    this.predictions = shape.prediction().map(TokenPrediction::depth).orElse(0);
    this.states = states(1).elements();
  }

  /** The network; empty where its input or its head is of another kind. */
  static Optional<LayerGraph> of(String name, TransformerShape shape) {
    boolean plain =
        shape.stack().causal()
            && shape.input() instanceof Words words
            && words.width() == shape.hidden()
            && words.segments() == 0
            && words.norm().isEmpty();
    return plain
            && shape.input() instanceof Words words
            && shape.head().size() == 1
            && shape.head().get(0) instanceof HeadPart.Scores scores
            && !(scores.tied() && shape.prediction().isPresent())
        ? Optional.of(new ShapedStack(shape, words, scores).graph(name))
        : Optional.empty();
  }

  private LayerGraph graph(String name) {
    List<Layer> layers = new ArrayList<>();
    layers.add(embedding());
    shape.encoder().ifPresent(encoder -> addBlocks("encoder-", encoder, 2, layers));
    String block = shape.encoder().isPresent() ? "decoder-" : "block-";
    addBlocks(block, shape.stack(), shape.encoder().isPresent() ? 2 : 1, layers);
    for (int i = 1; i <= predictions; i++) {
      layers.add(prediction(i, shape.prediction().orElseThrow().block()));
    }
    layers.add(head());
    return LayerGraph.chain(name, layers);
  }

  /**
   * The blocks of a stack.
   *
   * @param travel states of a token that leave each, but for the last of a decoder
   */
  private void addBlocks(String name, StackShape stack, int travel, List<Layer> layers) {
    for (int i = 0; i < stack.size(); i++) {
      boolean ends = i == stack.size() - 1;
      long beside = 0; // parameters of a stack, not of its blocks
      if (i == 0 && words.positions() instanceof Positions.Relative relative) {
        beside += (long) relative.buckets() * stack.blocks().get(0).attention().heads();
      }
      if (ends && !stack.causal()) { // a decoder's last norm is the head's
        beside += stack.last().map(norm -> norm.parameters(shape.hidden())).orElse(0L);
      }
      Shape output = states(ends && stack.causal() ? 1 : travel);
      layers.add(block(name + (i + 1), stack.blocks().get(i), stack.causal(), output, beside));
    }
  }

  /** So many vectors for each token. */
  private Shape states(int count) {
    return Shape.of(sequence, count * shape.hidden());
  }

  private Layer embedding() {
    int hidden = shape.hidden();
    Operator table = new Operator.Embedding(words.vocabulary(), hidden);
    Shape output = states(shape.encoder().isPresent() ? 2 : 1);
    double made = output.elements();
    Work work = new Work(made, made, made, 4.0 * made);
    Layer layer =
        new Layer(
            EMBEDDING,
            table,
            Optional.of(output),
            shape.inputParameters(),
            output.elements(),
            0, // what it makes is kept by the block that reads it
            work);
    return words.positions() instanceof Positions.Learned learned
        ? layer.then(new Operator.Positions(learned.rows(), hidden))
        : layer;
  }

  private Layer block(String name, LayerShape block, boolean causal, Shape output, long beside) {
    int hidden = shape.hidden();
    double all = sequence * block.flopsPerToken(hidden, sequence, causal);
    double unweighted = sequence * block.scoreFlops(sequence, causal);
    double products = all - unweighted;
    return new Layer(
        name,
        new Operator.ShapedBlock(block, hidden, sequence, causal, words.positions()),
        Optional.of(output),
        block.parameters(hidden) + beside,
        output.elements(),
        Math.round(
            sequence * block.keptElements(hidden, words.positions() instanceof Positions.Rotary)),
        new Work(
            all,
            products + 2 * unweighted, // no weights: their gradients are inputs'
            products,
            sequence * block.movedElements(hidden)));
  }

  /**
   * A layer of multi-token prediction.
   *
   * @param depth from 1: as many states travel with its own
   */
  private Layer prediction(int depth, LayerShape block) {
    int hidden = shape.hidden();
    Shape output = states(1 + depth);
    Layer own = block("prediction-" + depth, block, true, output, 0);
    double product = 4.0 * hidden * states; // of 2h features to h
    Work work = own.work();
    Operator table = new Operator.TiedEmbedding(EMBEDDING);
    return new Layer(
        own.name(),
        own.operator(),
        depth == 1 ? List.of(table, own.operator()) : List.of(own.operator()),
        own.output(),
        shape.predictionParameters() / predictions,
        own.outputElements(),
        own.keptElements() + Math.round(JOINED * states),
        new Work(
            work.forward() + product,
            work.inputGradient() + product,
            work.weightGradient() + product,
            work.forwardElements() + 3 * JOINED * states));
  }

  private Layer head() {
    int hidden = shape.hidden();
    int losses = 1 + predictions;
    long logits = (long) losses * sequence * words.vocabulary();
    double flop = 2.0 * hidden * logits;
    Operator product = new Operator.Linear(hidden, words.vocabulary(), scores.bias());
    long norm = shape.stack().last().map(kind -> kind.parameters(hidden)).orElse(0L);
    Layer layer =
        new Layer(
            "head",
            product,
            Optional.of(Shape.of(sequence, losses * words.vocabulary())),
            norm + shape.headParameters(),
            logits,
            2L * losses * states + logits, // inputs of normalisation and product, and the softmax
            new Work(flop, flop, flop, 5.0 * losses * states + 3.0 * logits));
    List<Operator> steps = new ArrayList<>();
    shape.stack().last().ifPresent(kind -> steps.add(Operator.Normalization.of(kind, hidden)));
    steps.add(scores.tied() ? new Operator.TiedScores(EMBEDDING) : product);
    return layer.computing(List.copyOf(steps));
  }
}
