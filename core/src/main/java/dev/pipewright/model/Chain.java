package dev.pipewright.model;

import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A network laid out as positions {@code 0..size-1} between which it can be cut: a cut after
 * position {@code i} puts everything that {@code i} stands for before it.
 *
 * <p>Source: PipeDream (Narayanan et al., SOSP 2019, §3.1) and its optimizer: each position is an
 * antichain of the layer DAG, reached breadth-first from the first source by replacing layers with
 * a successor; it stands for the antichain and all its ancestors. A cut pays for the
 * <i>augmented</i> antichain: every layer before the cut with a reader beyond it, so skip
 * connections are charged.
 *
 * <p>Where a network branches, the antichains form a lattice and only some pairs of positions
 * follow each other ({@link #precedes}); positions are in topological order. A pure chain costs
 * O(layers), a lattice O(positions · layers).
 */
public final class Chain {
  /** More antichains than this means that a graph is too wide to be planned layer by layer. */
  static final int MOST_POSITIONS = 20_000;

  /** Edges looked at until all antichains are found: about a second. */
  private static final long MOST_LOOKS = 200_000_000;

  private final LayerGraph graph;
  private final int[] parent; // the position that a position extends, or -1
  private final int[][] added; // the layers that it adds to its parent
  private final int[][] crossing; // the layers whose output crosses a cut after it
  private final BitSet[] before; // layers at or before each position; empty for a pure chain
  private final long[][] beforeWords; // the same, for quick comparison
  private final boolean total;

  private Chain(LayerGraph graph, int[] parent, int[][] added, int[][] crossing, BitSet[] before) {
    this.graph = graph;
    this.parent = parent;
    this.added = added;
    this.crossing = crossing;
    this.before = before;
    this.beforeWords = Arrays.stream(before).map(BitSet::toLongArray).toArray(long[][]::new);
    this.total = nested();
  }

  /**
   * Throws when the graph has more than 20,000 antichains, or a layer that the first source's do
   * not reach.
   */
  public static Chain of(LayerGraph graph) {
    return isPlain(graph) ? plain(graph) : lattice(graph);
  }

  private static boolean isPlain(LayerGraph graph) {
    int sources = 0;
    for (int i = 0; i < graph.size(); i++) {
      if (graph.successors(i).length > 1 || graph.predecessors(i).length > 1) {
        return false;
      }
      sources += graph.predecessors(i).length == 0 ? 1 : 0;
    }
    return sources == 1;
  }

  private static Chain plain(LayerGraph graph) {
    int[] order = graph.topological();
    int[] parent = new int[order.length];
    int[][] added = new int[order.length][];
    for (int i = 0; i < order.length; i++) {
      parent[i] = i - 1;
      added[i] = new int[] {order[i]};
    }
    return new Chain(graph, parent, added, added, new BitSet[0]);
  }

  private static Chain lattice(LayerGraph graph) {
    List<Antichain> found = new ArrayList<>();
    Set<BitSet> known = new HashSet<>();
    Antichain start = Antichain.first(firstSource(graph));
    found.add(start);
    known.add(start.before());
    long looks = 0;
    for (int i = 0; i < found.size(); i++) {
      Antichain state = found.get(i);
      for (int successor : state.beyond(graph)) {
        Antichain next = state.reaching(successor, graph, i);
        looks += next.looks();
        Check.that(
            looks <= MOST_LOOKS,
            "the edges are too many to find all places to cut; merge layers into blocks: model=%s",
            graph.name());
        if (known.add(next.before())) {
          found.add(next);
          Check.that(
              found.size() <= MOST_POSITIONS,
              "the branches allow more than %d places to cut; merge layers into blocks: model=%s",
              MOST_POSITIONS,
              graph.name());
        }
      }
    }
    return ordered(graph, found);
  }

  private static int firstSource(LayerGraph graph) {
    int layer = 0;
    while (graph.predecessors(layer).length > 0) {
      layer++;
    }
    return layer;
  }

  private static Chain ordered(LayerGraph graph, List<Antichain> found) {
    int size = found.size();
    int[] cardinality = found.stream().mapToInt(state -> state.before().cardinality()).toArray();
    Integer[] order = new Integer[size];
    Arrays.setAll(order, i -> i);
    Arrays.sort(order, (a, b) -> Integer.compare(cardinality[a], cardinality[b])); // stable
    int[] position = new int[size];
    for (int i = 0; i < size; i++) {
      position[order[i]] = i;
    }
    int[] parent = new int[size];
    int[][] added = new int[size][];
    int[][] crossing = new int[size][];
    BitSet[] before = new BitSet[size];
    for (int i = 0; i < size; i++) {
      Antichain state = found.get(order[i]);
      BitSet fresh = (BitSet) state.before().clone();
      parent[i] = state.foundFrom() < 0 ? -1 : position[state.foundFrom()];
      if (parent[i] >= 0) {
        fresh.andNot(found.get(state.foundFrom()).before());
      }
      added[i] = fresh.stream().toArray();
      crossing[i] = state.augmented();
      before[i] = state.before();
    }
    int unreached = before[size - 1].nextClearBit(0);
    Check.that(
        unreached >= graph.size(),
        "layer %s is not connected to the rest of the network",
        unreached < graph.size() ? graph.layer(unreached).name() : "");
    return new Chain(graph, parent, added, crossing, before);
  }

  private boolean nested() {
    for (int i = 1; i < before.length; i++) {
      if (!subset(beforeWords[i - 1], beforeWords[i]) || before[i - 1].equals(before[i])) {
        return false;
      }
    }
    return true;
  }

  private static boolean subset(long[] inner, long[] outer) {
    for (int i = 0; i < inner.length; i++) {
      long beyond = i < outer.length ? inner[i] & ~outer[i] : inner[i];
      if (beyond != 0) {
        return false;
      }
    }
    return true;
  }

  public LayerGraph graph() {
    return graph;
  }

  public int size() {
    return parent.length;
  }

  /** Whether every position precedes the next: no branch leaves a choice. */
  public boolean total() {
    return total;
  }

  /** The most stages into which the network can be cut; O(positions²) where it branches. */
  public int mostStages() {
    if (total) {
      return size();
    }
    int[] most = new int[size()];
    Arrays.fill(most, 1);
    for (int end = 1; end < most.length; end++) {
      for (int before = 0; before < end; before++) {
        if (most[before] >= most[end] && precedes(before, end)) {
          most[end] = most[before] + 1;
        }
      }
    }
    return most[most.length - 1];
  }

  /** Whether a stage may end at {@code position} and a later one at {@code next}. */
  public boolean precedes(int position, int next) {
    return position < next && (total || subset(beforeWords[position], beforeWords[next]));
  }

  /** The layers that {@code position} stands for beyond the position it extends. */
  public int[] added(int position) {
    return added[position].clone();
  }

  /** The layers of a stage that follows {@code after} (-1 for none) and ends at {@code last}. */
  public int[] layers(int after, int last) {
    if (before.length == 0) {
      int[] layers = new int[Math.max(0, last - after)];
      for (int i = 0; i < layers.length; i++) { // for each stage of each plan: no stream
        layers[i] = added[after + 1 + i][0];
      }
      return layers;
    }
    BitSet set = (BitSet) before[last].clone();
    if (after >= 0) {
      set.andNot(before[after]);
    }
    return set.stream().toArray();
  }

  /**
   * The layers whose output crosses a cut after {@code position}: those that a later layer reads,
   * or none at all. Ascending, but for a pure chain, where it is one.
   */
  public int[] crossing(int position) {
    return crossing[position].clone();
  }

  /** For each position the sum of {@code perLayer} over all layers at or before it. */
  public double[] cumulative(double[] perLayer) {
    double[] sums = new double[size()];
    for (int i = 0; i < sums.length; i++) {
      double sum = parent[i] < 0 ? 0 : sums[parent[i]];
      for (int layer : added[i]) {
        sum += perLayer[layer];
      }
      sums[i] = sum;
    }
    return sums;
  }

  /**
   * The same sums as PipeDream's program takes them, in its {@code augment_antichain}: over the
   * members of each position's antichain and those of their ancestors that some layer reads which
   * is no ancestor of the same member. Where branches lie side by side, that also counts a layer
   * whose readers are all before the cut, once it is read on another branch.
   */
  public double[] crossingAsAugmented(double[] perLayer) {
    if (total && before.length == 0) {
      return crossing(perLayer);
    }
    BitSet[] ancestors = ancestors();
    double[] sums = new double[size()];
    for (int i = 0; i < sums.length; i++) {
      BitSet counted = new BitSet();
      for (int member : members(i)) {
        counted.set(member);
        BitSet above = ancestors[member];
        for (int layer = above.nextSetBit(0); layer >= 0; layer = above.nextSetBit(layer + 1)) {
          for (int reader : graph.successors(layer)) {
            if (reader != member && !above.get(reader)) {
              counted.set(layer);
            }
          }
        }
      }
      sums[i] = counted.stream().mapToDouble(layer -> perLayer[layer]).sum();
    }
    return sums;
  }

  /** The antichain: layers of a position that lead to no other of it. */
  private int[] members(int position) {
    return Arrays.stream(crossing[position])
        .filter(layer -> Arrays.stream(graph.successors(layer)).noneMatch(before[position]::get))
        .toArray();
  }

  private BitSet[] ancestors() {
    BitSet[] ancestors = new BitSet[graph.size()];
    for (int layer : graph.topological()) {
      ancestors[layer] = new BitSet();
      for (int predecessor : graph.predecessors(layer)) {
        ancestors[layer].set(predecessor);
        ancestors[layer].or(ancestors[predecessor]);
      }
    }
    return ancestors;
  }

  /**
   * For each position the sum of {@code perLayer} over the layers whose output crosses a cut after
   * it.
   */
  public double[] crossing(double[] perLayer) {
    double[] sums = new double[size()];
    for (int i = 0; i < sums.length; i++) {
      for (int layer : crossing[i]) {
        sums[i] += perLayer[layer];
      }
    }
    return sums;
  }
}
