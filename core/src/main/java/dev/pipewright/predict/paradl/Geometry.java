package dev.pipewright.predict.paradl;

import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A layer as ParaDL sees it (§2.2): a convolution of C channels into F filters over positions.
 *
 * @param kind what can be done to it
 * @param channels C: channels (or features) of its input
 * @param filters F: channels (or features) of its output
 * @param in extents of its input along the spatial axes, empty where it has none
 * @param out extents of its output along the spatial axes
 * @param kernel extents of the window that one output position reads, empty for a single position
 * @param inElements |x|, summed over all inputs
 * @param outElements |y|
 * @param weights |w|
 * @param biases |bi|
 */
record Geometry(
    String name,
    Kind kind,
    int channels,
    int filters,
    List<Integer> in,
    List<Integer> out,
    List<Integer> kernel,
    double inElements,
    double outElements,
    double weights,
    double biases) {

  enum Kind {
    INPUT,
    /** Convolution: filters, channels and positions can be split. */
    CONVOLUTION,
    /** Fully connected: filters and channels can be split. */
    CONNECTED,
    /** Works on each channel by itself: pooling, normalisation, element-wise functions. */
    CHANNEL_WISE,
    /** Cannot be split: a block of several operators, a recurrent or recorded layer. */
    WHOLE;

    boolean product() {
      return this == CONVOLUTION || this == CONNECTED;
    }
  }

  /** All layers of a network, in its order. */
  static List<Geometry> of(LayerGraph graph) {
    List<Geometry> all = new ArrayList<>(graph.size());
    for (int layer = 0; layer < graph.size(); layer++) {
      all.add(of(graph, layer));
    }
    return all;
  }

  private static Geometry of(LayerGraph graph, int number) {
    Layer layer = graph.layer(number);
    int[] readsFrom = graph.predecessors(number);
    double inElements = 0;
    for (int from : readsFrom) {
      inElements += graph.layer(from).outputElements();
    }
    Optional<Shape> input =
        readsFrom.length == 0 ? Optional.empty() : graph.layer(readsFrom[0]).output();
    Operator operator = layer.operator();
    long biases = biases(operator);
    Kind kind = kind(layer, input);
    return new Geometry(
        layer.name(),
        kind,
        kind.product() ? inChannels(operator) : channels(input, layer),
        channels(layer.output(), layer),
        spatial(input),
        spatial(layer.output()),
        kernel(operator),
        inElements,
        layer.outputElements(),
        layer.parameters() - biases,
        biases);
  }

  private static Kind kind(Layer layer, Optional<Shape> input) {
    return switch (layer.operator()) {
      case Operator.Input i -> Kind.INPUT;
      case Operator.Tokens t -> Kind.INPUT;
      case Operator.Convolution c -> input.isPresent() ? Kind.CONVOLUTION : Kind.WHOLE;
      case Operator.Linear l -> Kind.CONNECTED;
      case Operator.Normalization n -> Kind.CHANNEL_WISE;
      case Operator.Pooling p -> Kind.CHANNEL_WISE;
      case Operator.Elementwise e -> Kind.CHANNEL_WISE;
      case Operator.Concatenation c -> Kind.CHANNEL_WISE;
      case Operator.Embedding e -> Kind.WHOLE;
      case Operator.Positions p -> Kind.WHOLE;
      case Operator.Segments s -> Kind.WHOLE;
      case Operator.ClassToken c -> Kind.WHOLE;
      case Operator.Mask m -> Kind.WHOLE;
      case Operator.TiedScores t -> Kind.WHOLE;
      case Operator.TiedEmbedding t -> Kind.WHOLE;
      case Operator.Attention a -> Kind.WHOLE;
      case Operator.Lstm l -> Kind.WHOLE;
      case Operator.AttentionLstm a -> Kind.WHOLE;
      case Operator.Residual r -> Kind.WHOLE;
      case Operator.Carried c -> Kind.WHOLE;
      case Operator.TransformerBlock t -> Kind.WHOLE;
      case Operator.ShapedBlock b -> Kind.WHOLE;
      case Operator.Block b -> Kind.WHOLE;
      case Operator.Recorded r -> Kind.WHOLE;
    };
  }

  private static int inChannels(Operator operator) {
    return switch (operator) {
      case Operator.Convolution c -> c.inChannels();
      case Operator.Linear l -> l.in();
      default -> throw new IllegalArgumentException("not a product: operator=" + operator);
    };
  }

  /** Biases, and the shifts of a normalisation. */
  private static long biases(Operator operator) {
    return switch (operator) {
      case Operator.Convolution c -> c.bias() ? c.outChannels() : 0;
      case Operator.Linear l -> l.bias() ? l.out() : 0;
      default -> 0;
    };
  }

  private static int channels(Optional<Shape> shape, Layer layer) {
    return shape
        .filter(s -> !s.extents().isEmpty())
        .map(s -> s.extent(0))
        .orElse((int) Math.min(Integer.MAX_VALUE, Math.max(1, layer.outputElements())));
  }

  /** The extents behind the channels. */
  private static List<Integer> spatial(Optional<Shape> shape) {
    return shape
        .filter(s -> s.extents().size() > 1)
        .map(s -> s.extents().subList(1, s.extents().size()))
        .orElse(List.of());
  }

  private static List<Integer> kernel(Operator operator) {
    return switch (operator) {
      case Operator.Convolution c -> c.kernel();
      case Operator.Pooling p -> p.kernel();
      default -> List.of();
    };
  }

  /** |x| + |y|; the network's input is counted with the layers that read it. */
  double activations() {
    return kind == Kind.INPUT ? 0 : inElements + outElements;
  }

  /** Whether the layer's positions can be shared out. */
  boolean hasPositions() {
    return kind != Kind.CONNECTED
        && kind != Kind.WHOLE
        && !in.isEmpty()
        && in.size() == out.size()
        && (kernel.isEmpty() || kernel.size() == in.size());
  }
}
