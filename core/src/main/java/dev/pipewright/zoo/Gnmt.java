package dev.pipewright.zoo;

import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.LayerGraph.Edge;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Shape;
import dev.pipewright.model.Work;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * GNMT: as many LSTM layers in the encoder, the first in both directions, as in the decoder, whose
 * first layer attends to the encoder's output. Below, h is the hidden size, T the steps.
 *
 * <p>Sources: Y. Wu et al., <i>Google's neural machine translation system</i>, 2016,
 * arXiv:1609.08144, §3; D. Bahdanau et al., ICLR 2015 (attention); the shapes that PipeDream (SOSP
 * 2019) trained: h = 1024 and 36,560 word pieces, the source's and the target's embedding apart,
 * LSTM cells with two biases. Every sentence has 50 tokens, the usual limit: DAPPLE's Table I has
 * 26 MB for the boundary of 64 samples there and back, 2 · 64 · 50 · 1024 · 4 bytes. (PipeDream's
 * profile was taken at 35 and 36.)
 *
 * <p>The target's embedding belongs to the first decoder layer. Departs: the attention's result,
 * which every decoder layer reads, is drawn as an edge from the encoder's last layer to each; it is
 * as large, and the first decoder layer cannot be cut from its attention, because each step's
 * attention feeds the next step's cell.
 *
 * <p><b>Kept by a layer</b>, in hT per direction: four gates, the cell's state, the output, the
 * output after dropout and half for its mask: 7½; the attention keeps tanh(query + key) of every
 * pair, h per pair. <b>Moved</b>: 20 per direction (gates written by the product with the input,
 * read and joined with the recurrent product, kept; states), 5 for dropout and residual sum.
 */
final class Gnmt {
  private static final int HIDDEN = 1024;
  private static final int VOCABULARY = 36_560;

  private final int sourceSteps;
  private final int targetSteps;
  private final List<Layer> layers = new ArrayList<>();
  private final List<Edge> edges = new ArrayList<>();

  private Gnmt(int sourceSteps, int targetSteps) {
    this.sourceSteps = sourceSteps;
    this.targetSteps = targetSteps;
  }

  static LayerGraph gnmt16() {
    return graph("gnmt-16", 16, 50, 50);
  }

  /** Half of {@code lstms} in the encoder, half in the decoder. */
  static LayerGraph graph(String name, int lstms, int sourceSteps, int targetSteps) {
    return new Gnmt(sourceSteps, targetSteps).build(name, lstms / 2);
  }

  private LayerGraph build(String name, int half) {
    layers.add(embedding());
    for (int i = 1; i <= half; i++) {
      add(lstm("encoder-" + i, i == 2 ? 2 * HIDDEN : HIDDEN, i == 1, sourceSteps));
    }
    int encoder = layers.size() - 1;
    add(attentionLstm());
    for (int i = 2; i <= half; i++) {
      add(lstm("decoder-" + i, 2 * HIDDEN, false, targetSteps));
      edges.add(new Edge(encoder, layers.size() - 1));
    }
    add(classifier());
    return new LayerGraph(name, layers, edges);
  }

  private void add(Layer layer) {
    edges.add(new Edge(layers.size() - 1, layers.size()));
    layers.add(layer);
  }

  private Layer embedding() {
    long states = (long) sourceSteps * HIDDEN;
    Work work = new Work(0, 0, states, 4.0 * states);
    Operator operator = new Operator.Embedding(VOCABULARY, HIDDEN);
    long parameters = (long) VOCABULARY * HIDDEN;
    return new Layer(
        "embedding", operator, shape(sourceSteps, HIDDEN), parameters, states, 0, work);
  }

  private static Layer lstm(String name, int in, boolean bidirectional, int steps) {
    int directions = bidirectional ? 2 : 1;
    int out = directions * HIDDEN;
    Operator operator = new Operator.Lstm(in, HIDDEN, bidirectional, steps);
    return new Layer(
        name,
        operator,
        shape(steps, out),
        directions * cellParameters(in),
        (long) steps * out,
        (15L * steps * out + 1) / 2,
        lstmWork(in, directions, steps));
  }

  /** Four gates, each with weights for input and state and two biases. */
  private static long cellParameters(int in) {
    return 4L * HIDDEN * (in + HIDDEN) + 8L * HIDDEN;
  }

  private static Work lstmWork(int in, int directions, int steps) {
    double out = (double) directions * HIDDEN;
    double flop = steps * 8.0 * out * (in + HIDDEN);
    return new Work(flop, flop, flop, steps * (in + 25 * out));
  }

  /**
   * The target's embedding, the decoder's first LSTM and the additive attention over the encoder's
   * output.
   */
  private Layer attentionLstm() {
    double square = (double) HIDDEN * HIDDEN;
    double pairs = (double) sourceSteps * targetSteps * HIDDEN;
    int both = sourceSteps + targetSteps;
    double products = 2 * square * both; // queries and keys
    Work attention =
        new Work(
            products + 6 * pairs, products + 8 * pairs, products, 4 * pairs + 4.0 * both * HIDDEN);
    Work work = lstmWork(HIDDEN, 1, targetSteps).plus(attention);
    long states = (long) targetSteps * HIDDEN;
    long parameters =
        (long) VOCABULARY * HIDDEN + cellParameters(HIDDEN) + 2L * HIDDEN * HIDDEN + HIDDEN;
    long kept = (15 * states + 1) / 2 + (long) pairs + (long) both * HIDDEN;
    Operator operator = new Operator.Block("attention lstm");
    return new Layer(
        "decoder-1", operator, shape(targetSteps, HIDDEN), parameters, states, kept, work);
  }

  /** Scores of all words for each step; the softmax is kept. */
  private Layer classifier() {
    long logits = (long) targetSteps * VOCABULARY;
    double flop = 2.0 * HIDDEN * logits;
    Work work = new Work(flop, flop, flop, (double) targetSteps * HIDDEN + 5.0 * logits);
    Operator operator = new Operator.Linear(HIDDEN, VOCABULARY, true);
    Optional<Shape> shape = shape(targetSteps, VOCABULARY);
    long parameters = (HIDDEN + 1L) * VOCABULARY;
    return new Layer("classifier", operator, shape, parameters, logits, logits, work);
  }

  private static Optional<Shape> shape(int steps, int features) {
    return Optional.of(Shape.of(steps, features));
  }
}
