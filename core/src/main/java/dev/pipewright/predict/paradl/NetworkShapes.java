package dev.pipewright.predict.paradl;

import dev.pipewright.cost.Workload;
import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What questions about a network need of its shapes alone: the same on every machine. */
final class NetworkShapes {
  private final Chain chain;
  private final List<Geometry> layers;
  private final List<Boolean> switches;
  private final int[] stagePlaces;
  private final double[] kept;
  private final double[] output;
  private final Map<List<Integer>, SpatialRegion> regions = new HashMap<>();

  NetworkShapes(Workload workload, Optional<List<Boolean>> switches) {
    this.chain = workload.chain();
    this.layers = Geometry.of(chain.graph());
    this.switches = switches.orElseGet(() -> Collections.nCopies(layers.size(), Boolean.TRUE));
    this.stagePlaces = nestedEnds(chain);
    this.kept = workload.profile().keptBytes();
    this.output = workload.profile().outputBytes();
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

  /** The layers that a grid splits. */
  SpatialRegion region(List<Integer> grid) {
    return regions.computeIfAbsent(grid, g -> new SpatialRegion(this, g));
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

  /** Bytes that a layer keeps for its backward pass, for one sample. */
  double keptBytes(int layer) {
    return kept[layer];
  }

  /** Bytes of a layer's output for one sample. */
  double outputBytes(int layer) {
    return output[layer];
  }
}
