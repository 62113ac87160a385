package dev.pipewright.planner.memory;

import dev.pipewright.cost.Collectives;
import dev.pipewright.cost.Part;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import java.util.Optional;

/**
 * What tensor parallelism divides of a layer, and what its devices tell each other.
 *
 * <ul>
 *   <li><b>Transformer blocks</b> (M. Shoeybi et al., <i>Megatron-LM</i>, arXiv:1909.08053, §3):
 *       all products, so weights and arithmetic; two all-reduces of the states forward, two
 *       backward. Of what a block keeps five times the states are on every device: the inputs of
 *       both normalisations, of attention and of the perceptron, and two dropout masks (V.
 *       Korthikanti et al., MLSys 2023, §4.2.1: 10 of 34 + 5as/h).
 *   <li><b>Linear layers and convolutions</b> by filters (ParaDL, Kahira et al., HPDC 2021, §3.3):
 *       weights and arithmetic; outputs are gathered forward, so that everybody keeps them whole,
 *       and the shares of the input's gradient summed backward, except where the input is the
 *       network's own.
 *   <li><b>A linear layer that nobody reads</b>: its outputs stay divided, since the loss is summed
 *       from parts (Megatron-LM, §3).
 *   <li><b>Tables</b> by rows: the weights; outputs are summed forward.
 *   <li><b>Everything else</b>, also what is known from a file by its description only: nothing.
 *       Every device does all of it.
 * </ul>
 *
 * @param columns into how many parts the weights can be divided at most
 * @param keptWhole the share of what the layer keeps that every device keeps
 * @param wholeTraffic elements of one sample that every device moves forward
 * @param message elements of one sample that a collective is about: states or output
 * @param input elements of one sample whose gradient is summed; 0 where nobody needs it
 */
record TensorSplit(
    Kind kind, int columns, double keptWhole, double wholeTraffic, double message, double input) {
  /** Elements that a block moves on every device, in multiples of its states. */
  private static final double WHOLE_TRAFFIC = 16; // dropouts 4, residual sums 6, normalisations 6

  /** States that a block keeps on every device. */
  private static final double WHOLE_STATES = 5;

  /** By what a layer is divided. */
  enum Kind {
    NOTHING,
    BLOCK,
    FILTERS,
    LAST_FILTERS,
    ROWS
  }

  private static final TensorSplit NONE = new TensorSplit(Kind.NOTHING, 1, 1, 0, 0, 0);

  static TensorSplit of(LayerGraph graph, int index) {
    Layer layer = graph.layer(index);
    if (layer.operator() instanceof Operator.TransformerBlock) {
      return block(layer);
    }
    if (layer.operator() instanceof Operator.Block block) {
      return block.kind().equals("transformer block") ? block(layer) : NONE;
    }
    if (layer.operator() instanceof Operator.Embedding table) {
      return new TensorSplit(Kind.ROWS, table.vocabulary(), 1, 0, layer.outputElements(), 0);
    }
    if (layer.operator() instanceof Operator.Linear linear) {
      return filters(graph, index, linear.out());
    }
    if (layer.operator() instanceof Operator.Convolution convolution && convolution.groups() == 1) {
      return filters(graph, index, convolution.outChannels());
    }
    return NONE;
  }

  /** The boundary is sequence × hidden, or where a mask travels along sequence × (hidden + it). */
  private static TensorSplit block(Layer layer) {
    Optional<dev.pipewright.model.Shape> boundary = layer.output();
    if (boundary.isEmpty() || boundary.get().extents().size() != 2) {
      return NONE;
    }
    int sequence = boundary.get().extent(0);
    int width = boundary.get().extent(1);
    boolean masked = layer.parameters() < 12.0 * width * width;
    int hidden = masked ? width - sequence : width;
    if (hidden <= 0 || layer.keptElements() == 0) {
      return NONE;
    }
    double states = (double) sequence * hidden;
    double whole = Math.min(1, WHOLE_STATES * states / layer.keptElements());
    return new TensorSplit(Kind.BLOCK, hidden, whole, WHOLE_TRAFFIC * states, states, states);
  }

  private static TensorSplit filters(LayerGraph graph, int index, int filters) {
    Layer layer = graph.layer(index);
    double input = 0;
    boolean first = true;
    for (int from : graph.predecessors(index)) {
      input += graph.layer(from).outputElements();
      first &= graph.layer(from).operator() instanceof Operator.Input;
    }
    boolean last = graph.successors(index).length == 0;
    double kept = layer.keptElements();
    double divided = last && kept > 0 ? Math.min(1, layer.outputElements() / kept) : 0;
    return new TensorSplit(
        last ? Kind.LAST_FILTERS : Kind.FILTERS,
        filters,
        1 - divided,
        input,
        layer.outputElements(),
        first ? 0 : input);
  }

  boolean divides() {
    return kind != Kind.NOTHING;
  }

  /** The largest share of the weights that one of so many devices has. */
  double weights(int degree) {
    return divides() ? (double) Math.ceilDiv(columns, degree) / columns : 1;
  }

  /** The largest share of what is kept that one of so many devices keeps. */
  double kept(int degree) {
    return keptWhole + (1 - keptWhole) * weights(degree);
  }

  /** The part of the layer that one of so many devices computes. */
  Part part(int degree) {
    return new Part(weights(degree), 1, 1);
  }

  /** Seconds that the devices of a group talk during a forward pass over so many bytes of each. */
  double forwardSeconds(Collectives group, double bytesPerElement) {
    double bytes = message * bytesPerElement;
    return switch (kind) {
      case NOTHING, LAST_FILTERS -> 0;
      case BLOCK -> 2 * group.allReduce(bytes);
      case FILTERS -> group.allGather(bytes);
      case ROWS -> group.allReduce(bytes);
    };
  }

  /** The same during a backward pass. */
  double backwardSeconds(Collectives group, double bytesPerElement) {
    double bytes = input * bytesPerElement;
    return switch (kind) {
      case NOTHING, ROWS -> 0;
      case BLOCK -> 2 * group.allReduce(bytes);
      case FILTERS, LAST_FILTERS -> group.allReduce(bytes);
    };
  }
}
