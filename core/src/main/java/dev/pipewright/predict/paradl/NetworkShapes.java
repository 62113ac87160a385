package dev.pipewright.predict.paradl;

import dev.pipewright.cost.Workload;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.parallel.Windows;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** What questions about a network need of its shapes alone: the same on every machine. */
final class NetworkShapes {
  private final Chain chain;
  private final List<Geometry> layers;
  private final List<Boolean> switches;
  private final int[] stagePlaces;

  NetworkShapes(Workload workload, Optional<List<Boolean>> switches) {
    this.layers = Geometry.of(workload.chain().graph());
    this.switches = switches.orElseGet(() -> Collections.nCopies(layers.size(), Boolean.TRUE));
    this.chain =
        this.switches.contains(false)
            ? Chain.of(whole(workload.chain().graph(), this.switches))
            : workload.chain();
    this.stagePlaces = nestedEnds(chain);
  }

  /**
   * The network with nothing known of the products and poolings that are switched off, so that no
   * kind of parallelism divides them. Layers that work on each position by itself follow what they
   * read.
   */
  private static LayerGraph whole(LayerGraph graph, List<Boolean> switches) {
    List<Layer> layers = new ArrayList<>();
    for (int layer = 0; layer < graph.size(); layer++) {
      Layer own = graph.layer(layer);
      boolean divided =
          own.operator() instanceof Operator.Linear || Windows.of(own.operator()).isPresent();
      layers.add(
          divided && !switches.get(layer)
              ? new Layer(
                  own.name(),
                  new Operator.Recorded(own.name()),
                  own.output(),
                  own.parameters(),
                  own.outputElements(),
                  own.keptElements(),
                  own.work())
              : own);
    }
    return new LayerGraph(graph.name(), layers, graph.edges());
  }

  /** The network as plans divide it: what is switched off stays whole. */
  Chain chain() {
    return chain;
  }

  /** Ends of positions of the chain, each following the one before, from 0 to the chain's size. */
  private static int[] nestedEnds(Chain chain) {
    int[] ends = new int[chain.size() + 1];
    int count = 1;
    for (int position = 0; position < chain.size(); position++) {
      if (count == 1 || chain.precedes(ends[count - 1] - 1, position)) {
        ends[count++] = position + 1;
      }
    }
    return Arrays.copyOf(ends, count);
  }

  /** Where stages may end so that any choice is a pipeline: read only. */
  int[] stagePlaces() {
    return stagePlaces;
  }

  /** How many stages there can be at most; the input alone is none. */
  int mostStages() {
    int[] first = chain.added(0);
    boolean input = first.length == 1 && layers.get(first[0]).kind() == Geometry.Kind.INPUT;
    return Math.max(1, stagePlaces.length - (input ? 2 : 1));
  }

  LayerGraph graph() {
    return chain.graph();
  }

  int size() {
    return layers.size();
  }

  Geometry layer(int layer) {
    return layers.get(layer);
  }

  /** Whether a strategy may split this layer. */
  boolean mayBeSplit(int layer) {
    return switches.get(layer);
  }
}
