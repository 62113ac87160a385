package dev.pipewright.model;

import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A network: layers and the activations that flow between them, without cycles. Layers are numbered
 * by their place in {@link #layers()}; the order need not be topological.
 */
public final class LayerGraph {
  /** The output of layer {@code from} is read by layer {@code to}. */
  public record Edge(int from, int to) {}

  private final String name;
  private final List<Layer> layers;
  private final List<Edge> edges;
  private final int[][] successors;
  private final int[][] predecessors;
  private final int[] topological;
  private @Nullable List<TiedTable> tiedTables; // once they are asked for

  /** Throws {@link CycleException} when the edges form a cycle. */
  public LayerGraph(String name, List<Layer> layers, List<Edge> edges) {
    Check.that(!layers.isEmpty(), "a network needs at least one layer: model=%s", name);
    this.name = name;
    this.layers = List.copyOf(layers);
    this.edges = List.copyOf(edges);
    this.successors = adjacency(true);
    this.predecessors = adjacency(false);
    this.topological = topologicalOrder();
  }

  /** A graph in which each layer feeds the next. */
  public static LayerGraph chain(String name, List<Layer> layers) {
    List<Edge> edges = new ArrayList<>();
    for (int i = 1; i < layers.size(); i++) {
      edges.add(new Edge(i - 1, i));
    }
    return new LayerGraph(name, layers, edges);
  }

  private int[][] adjacency(boolean forward) {
    int[] degree = new int[layers.size()];
    for (Edge edge : edges) {
      Check.that(
          edge.from >= 0 && edge.from < degree.length && edge.to >= 0 && edge.to < degree.length,
          "an edge names a layer that is not there: edge=%s, layers=%d",
          edge,
          degree.length);
      degree[forward ? edge.from : edge.to]++;
    }
    int[][] neighbours = new int[degree.length][];
    for (int i = 0; i < degree.length; i++) {
      neighbours[i] = new int[degree[i]];
      degree[i] = 0;
    }
    for (Edge edge : edges) {
      int at = forward ? edge.from : edge.to;
      neighbours[at][degree[at]++] = forward ? edge.to : edge.from;
    }
    return neighbours;
  }

  private int[] topologicalOrder() {
    int[] waiting = new int[layers.size()];
    int[] order = new int[layers.size()];
    int ready = 0;
    for (int i = 0; i < waiting.length; i++) {
      waiting[i] = predecessors[i].length;
      if (waiting[i] == 0) {
        order[ready++] = i;
      }
    }
    for (int next = 0; next < ready; next++) {
      for (int successor : successors[order[next]]) {
        if (--waiting[successor] == 0) {
          order[ready++] = successor;
        }
      }
    }
    if (ready < order.length) {
      throw new CycleException(onCycle(waiting));
    }
    return order;
  }

  /**
   * A layer on a cycle: from any layer that still waits, walk back along layers that still wait.
   */
  private int onCycle(int[] waiting) {
    int at = 0;
    while (waiting[at] == 0) {
      at++;
    }
    for (int step = 0; step < waiting.length; step++) {
      for (int predecessor : predecessors[at]) {
        if (waiting[predecessor] > 0) {
          at = predecessor;
          break;
        }
      }
    }
    return at;
  }

  public String name() {
    return name;
  }

  public int size() {
    return layers.size();
  }

  public List<Layer> layers() {
    return layers;
  }

  public Layer layer(int index) {
    return layers.get(index);
  }

  public List<Edge> edges() {
    return edges;
  }

  /** The layers that read the output of {@code layer}. The array is the graph's own: read only. */
  public int[] successors(int layer) {
    return successors[layer];
  }

  /** The layers whose output {@code layer} reads. The array is the graph's own: read only. */
  public int[] predecessors(int layer) {
    return predecessors[layer];
  }

  /** All layers, each after its predecessors. */
  public int[] topological() {
    return topological.clone();
  }

  /** Some layers, each after its predecessors. */
  public int[] topological(int[] some) {
    BitSet wanted = new BitSet();
    for (int layer : some) {
      wanted.set(layer);
    }
    return Arrays.stream(topological).filter(wanted::get).toArray();
  }

  public long parameters() {
    return layers.stream().mapToLong(Layer::parameters).sum();
  }

  /** Numbers of the layers by name. */
  public Map<String, Integer> index() {
    Map<String, Integer> index = new HashMap<>();
    for (int i = 0; i < layers.size(); i++) {
      index.put(layers.get(i).name(), i);
    }
    return index;
  }

  /** Tables of embeddings that two layers read; found once. */
  public List<TiedTable> tiedTables() {
    List<TiedTable> tables = tiedTables;
    if (tables == null) {
      tables = TiedTable.of(this);
      tiedTables = tables;
    }
    return tables;
  }

  /** The edges of a graph form a cycle. */
  public static final class CycleException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;
    private final int layer;

    CycleException(int layer) {
      super("the edges form a cycle through layer " + layer);
      this.layer = layer;
    }

    /** A layer on the cycle. */
    public int layer() {
      return layer;
    }
  }

  @Override
  public boolean equals(Object that) {
    return that instanceof LayerGraph other
        && name.equals(other.name)
        && layers.equals(other.layers)
        && edges.equals(other.edges);
  }

  @Override
  public int hashCode() {
    return Objects.hash(name, layers, edges);
  }

  @Override
  public String toString() {
    return name + " (" + layers.size() + " layers)";
  }
}
