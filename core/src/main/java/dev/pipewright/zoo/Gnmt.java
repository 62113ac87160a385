package dev.pipewright.zoo;

import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.LayerGraph.Edge;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Shape;
import dev.pipewright.model.Work;
import dev.pipewright.units.Check;
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
 * <p>As in the program that PipeDream trained, attention is no part of the recurrence: the states
 * of the first decoder layer attend all at once, and the next layers read what they attended to
 * beside their input. It is handed on from layer to layer with the states, so a cut between two
 * decoder layers carries both. From the third layer of either half on, a layer's input is added to
 * its output. The target's words are an input of their own; their embedding belongs to the first
 * decoder layer.
 *
 * <p><b>Kept by a layer</b>, in hT per direction: four gates, the cell's state, the output, the
 * output after dropout and half for its mask: 7½; the attention keeps tanh(query + key) of every
 * pair, h per pair. <b>Moved</b>: 20 per direction (gates written by the product with the input,
 * read and joined with the recurrent product, kept; states), 5 for dropout and residual sum.
 */
final class Gnmt {
  private final int hidden;
  private final int vocabulary;
  private final int sourceSteps;
  private final int targetSteps;
  private final List<Layer> layers = new ArrayList<>();
  private final List<Edge> edges = new ArrayList<>();

  private Gnmt(int hidden, int vocabulary, int sourceSteps, int targetSteps) {
    this.hidden = hidden;
    this.vocabulary = vocabulary;
    this.sourceSteps = sourceSteps;
    this.targetSteps = targetSteps;
  }

  static LayerGraph gnmt16() {
    return graph("gnmt-16", 16, 1024, 50, 36_560);
  }

  /** Half of {@code lstms} in the encoder, half in the decoder; as many steps in both. */
  static LayerGraph graph(String name, int lstms, int hidden, int steps, int vocabulary) {
    Check.that(
        lstms % 2 == 0 && lstms >= 4,
        "%s: layers=%d makes no sense; half of them encode and half decode, two or more each",
        name,
        lstms);
    return new Gnmt(hidden, vocabulary, steps, steps).build(name, lstms / 2);
  }

  private LayerGraph build(String name, int half) {
    layers.add(embedding());
    for (int i = 1; i <= half; i++) {
      Layer lstm = lstm("encoder-" + i, i == 2 ? 2 * hidden : hidden, i == 1, sourceSteps);
      add(i <= 2 ? lstm : lstm.then(new Operator.Residual(hidden)));
    }
    int encoder = layers.size() - 1;
    layers.add(target());
    layers.add(attentionLstm());
    edges.add(new Edge(encoder, encoder + 2));
    edges.add(new Edge(encoder + 1, encoder + 2));
    for (int i = 2; i <= half; i++) {
      add(decoder(i, i == half));
    }
    add(classifier());
    return new LayerGraph(name, layers, edges);
  }

  private void add(Layer layer) {
    edges.add(new Edge(layers.size() - 1, layers.size()));
    layers.add(layer);
  }

  private Layer embedding() {
    long states = (long) sourceSteps * hidden;
    Work work = new Work(0, 0, states, 4.0 * states);
    Operator operator = new Operator.Embedding(vocabulary, hidden);
    long parameters = (long) vocabulary * hidden;
    return new Layer(
        "embedding", operator, shape(sourceSteps, hidden), parameters, states, 0, work);
  }

  /** The words of the translation. */
  private Layer target() {
    return new Layer(
        "target",
        new Operator.Tokens(vocabulary),
        Optional.of(Shape.of(targetSteps)),
        0,
        targetSteps,
        0,
        Work.NONE);
  }

  /** A layer that reads states and what they attended to, and hands both on unless it is last. */
  private Layer decoder(int number, boolean last) {
    Layer lstm = lstm("decoder-" + number, 2 * hidden, false, targetSteps);
    Layer summed = number == 2 ? lstm : lstm.then(new Operator.Residual(hidden));
    return last ? summed : withAttended(summed).then(new Operator.Carried(hidden));
  }

  /** The layer with an output that is twice as wide. */
  private Layer withAttended(Layer layer) {
    return new Layer(
        layer.name(),
        layer.operator(),
        layer.steps(),
        shape(targetSteps, 2 * hidden),
        layer.parameters(),
        2 * layer.outputElements(),
        layer.keptElements(),
        layer.work());
  }

  private Layer lstm(String name, int in, boolean bidirectional, int steps) {
    int directions = bidirectional ? 2 : 1;
    int out = directions * hidden;
    Operator operator = new Operator.Lstm(in, hidden, bidirectional, steps);
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
  private long cellParameters(int in) {
    return 4L * hidden * (in + hidden) + 8L * hidden;
  }

  private Work lstmWork(int in, int directions, int steps) {
    double out = (double) directions * hidden;
    double flop = steps * 8.0 * out * (in + hidden);
    return new Work(flop, flop, flop, steps * (in + 25 * out));
  }

  /**
   * The target's embedding, the decoder's first LSTM and the additive attention over the encoder's
   * output.
   */
  private Layer attentionLstm() {
    double square = (double) hidden * hidden;
    double pairs = (double) sourceSteps * targetSteps * hidden;
    int both = sourceSteps + targetSteps;
    double products = 2 * square * both; // queries and keys
    Work attention =
        new Work(
            products + 6 * pairs, products + 8 * pairs, products, 4 * pairs + 4.0 * both * hidden);
    Work work = lstmWork(hidden, 1, targetSteps).plus(attention);
    long states = (long) targetSteps * hidden;
    long parameters =
        (long) vocabulary * hidden + cellParameters(hidden) + 2L * hidden * hidden + hidden;
    long kept = (15 * states + 1) / 2 + (long) pairs + (long) both * hidden;
    Operator operator = new Operator.AttentionLstm(vocabulary, hidden);
    return withAttended(
        new Layer(
            "decoder-1", operator, shape(targetSteps, hidden), parameters, states, kept, work));
  }

  /** Scores of all words for each step; the softmax is kept. */
  private Layer classifier() {
    long logits = (long) targetSteps * vocabulary;
    double flop = 2.0 * hidden * logits;
    Work work = new Work(flop, flop, flop, (double) targetSteps * hidden + 5.0 * logits);
    Operator operator = new Operator.Linear(hidden, vocabulary, true);
    Optional<Shape> shape = shape(targetSteps, vocabulary);
    long parameters = (hidden + 1L) * vocabulary;
    return new Layer("classifier", operator, shape, parameters, logits, logits, work);
  }

  private static Optional<Shape> shape(int steps, int features) {
    return Optional.of(Shape.of(steps, features));
  }
}
