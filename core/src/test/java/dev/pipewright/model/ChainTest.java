package dev.pipewright.model;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.model.LayerGraph.Edge;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class ChainTest {
  private static final double[] POWERS = {1, 2, 4, 8, 16, 32, 64, 128};

  @Test
  void aPlainChainHasOnePositionPerLayerInTopologicalOrder() {
    Chain chain = chain(4, 2, 0, 0, 3, 3, 1); // 2 -> 0 -> 3 -> 1
    assertEquals(4, chain.size());
    assertTrue(chain.total());
    assertArrayEquals(new double[] {4, 5, 13, 15}, chain.cumulative(first(4)));
    assertArrayEquals(new double[] {4, 1, 8, 2}, chain.crossing(first(4)));
    assertArrayEquals(new int[] {0, 3}, chain.layers(0, 2));
    assertArrayEquals(new int[] {2}, chain.layers(-1, 0));
    assertTrue(chain.precedes(0, 3));
    assertFalse(chain.precedes(3, 3));
    assertFalse(chain.precedes(3, 0));
  }

  @Test
  void someLayersOfAGraphComeInItsTopologicalOrder() {
    LayerGraph graph = chain(4, 2, 0, 0, 3, 3, 1).graph(); // 2 -> 0 -> 3 -> 1
    assertArrayEquals(new int[] {2, 3, 1}, graph.topological(new int[] {1, 2, 3}));
    assertArrayEquals(new int[0], graph.topological(new int[0]));
  }

  @Test
  void aDiamondMayBeCutAfterEitherBranchOrBoth() {
    Chain chain = chain(4, 0, 1, 0, 2, 1, 3, 2, 3);
    assertEquals(5, chain.size()); // 0 | 1 | 2 | 1 and 2 | 3
    assertFalse(chain.total());
    assertArrayEquals(new double[] {1, 3, 5, 7, 15}, chain.cumulative(first(4)));
    assertArrayEquals(new double[] {1, 3, 5, 6, 8}, chain.crossing(first(4)));
  }

  /** Layer 0 is read on the other branch than each of 1 and 2, so both of them bring it along. */
  @Test
  void pipeDreamsProgramPaysOnceMoreForALayerThatBranchesSideBySideHaveRead() {
    Chain chain = chain(4, 0, 1, 0, 2, 1, 3, 2, 3);
    assertArrayEquals(new double[] {1, 3, 5, 7, 8}, chain.crossingAsAugmented(first(4)));
  }

  @RepeatedTest(200)
  void augmentedAntichainsAreThoseOfTheLiteralRule(RepetitionInfo seed) {
    Chain chain = Chain.of(random(new SplittableRandom(seed.getCurrentRepetition())));
    double[] outputs = first(chain.graph().size());
    assertArrayEquals(
        LiteralAntichains.crossing(chain, outputs), chain.crossingAsAugmented(outputs));
  }

  @Test
  void positionsOfDifferentBranchesDoNotPrecedeEachOther() {
    Chain chain = chain(4, 0, 1, 0, 2, 1, 3, 2, 3);
    assertFalse(chain.precedes(1, 2));
    assertFalse(chain.precedes(2, 1));
    assertTrue(chain.precedes(1, 3));
    assertTrue(chain.precedes(2, 3));
    assertArrayEquals(new int[] {1, 3}, chain.layers(2, 4));
  }

  @Test
  void aSkipConnectionIsChargedByEveryCutThatItCrosses() {
    Chain chain = chain(4, 0, 1, 1, 2, 2, 3, 0, 3);
    assertEquals(4, chain.size());
    assertTrue(chain.total());
    assertArrayEquals(new double[] {1, 1 + 2, 1 + 4, 8}, chain.crossing(first(4)));
    assertArrayEquals(new double[] {1, 3, 7, 15}, chain.cumulative(first(4)));
  }

  @Test
  void aSecondSourceJoinsWithTheLayerThatReadsIt() {
    Chain chain = chain(4, 0, 2, 1, 2, 2, 3);
    assertEquals(3, chain.size());
    assertArrayEquals(new int[] {0}, chain.added(0));
    assertArrayEquals(new int[] {1, 2}, chain.added(1));
    assertArrayEquals(new double[] {1, 4, 8}, chain.crossing(first(4)));
  }

  @Test
  void aRepeatedEdgeCountsOnce() {
    assertArrayEquals(new double[] {1, 2}, chain(2, 0, 1, 0, 1).crossing(first(2)));
  }

  @Test
  void aLayerOnItsOwnIsNamed() {
    Exception e = assertThrows(IllegalArgumentException.class, () -> chain(3, 0, 1));
    assertEquals("layer layer-2 is not connected to the rest of the network", e.getMessage());
  }

  @Test
  void tooManyBranchesAreRefusedWithAdvice() {
    List<Edge> edges = new ArrayList<>();
    for (int branch = 0; branch < 16; branch++) {
      edges.add(new Edge(0, 1 + branch));
      edges.add(new Edge(1 + branch, 17));
    }
    Exception e = assertThrows(IllegalArgumentException.class, () -> Chain.of(graph(18, edges)));
    assertEquals(
        "the branches allow more than 20000 places to cut; merge layers into blocks: model=test",
        e.getMessage());
  }

  @Test
  void moreEdgesThanCanBeFollowedAreRefusedWithAdvice() {
    List<Edge> edges = new ArrayList<>();
    for (int i = 0; i < 2_000; i++) {
      for (int j = i + 1; j < Math.min(2_000, i + 400); j++) {
        edges.add(new Edge(i, j));
      }
    }
    LayerGraph graph = graph(2_000, edges);
    Exception e = assertThrows(IllegalArgumentException.class, () -> Chain.of(graph));
    assertEquals(
        "the edges are too many to find all places to cut; merge layers into blocks: model=test",
        e.getMessage());
  }

  @Test
  void aLongNetworkWithOneSkipConnectionHasTooManyPlacesToCut() {
    List<Edge> edges = new ArrayList<>(List.of(new Edge(0, 2)));
    for (int i = 1; i < 100_000; i++) {
      edges.add(new Edge(i - 1, i));
    }
    LayerGraph graph = graph(100_000, edges);
    Exception e = assertThrows(IllegalArgumentException.class, () -> Chain.of(graph));
    assertEquals(
        "the branches allow more than 20000 places to cut; merge layers into blocks: model=test",
        e.getMessage());
  }

  @RepeatedTest(200)
  void positionsAreTheClosedSetsThatGrowByASuccessor(RepetitionInfo seed) {
    LayerGraph graph = random(new SplittableRandom(seed.getCurrentRepetition()));
    Chain chain = Chain.of(graph);
    double[] sets = chain.cumulative(first(graph.size()));
    Set<Integer> expected = closedSets(graph);
    Set<Integer> found = new HashSet<>();
    for (double set : sets) {
      assertTrue(found.add((int) set), "one position for each set");
    }
    assertEquals(expected, found);
    double[] crossing = chain.crossing(first(graph.size()));
    for (int i = 0; i < sets.length; i++) {
      assertEquals(crossing(graph, (int) sets[i]), (int) crossing[i]);
      for (int j = 0; j < sets.length; j++) {
        int earlier = (int) sets[i];
        int later = (int) sets[j];
        boolean precedes = earlier != later && (earlier & ~later) == 0;
        assertEquals(precedes, chain.precedes(i, j));
        if (precedes) {
          assertEquals(later & ~earlier, mask(chain.layers(i, j)));
        }
      }
    }
    assertEquals((1 << graph.size()) - 1, (int) sets[sets.length - 1]);
  }

  /** From the first source with nothing before it: add a reader of the set with all it needs. */
  private static Set<Integer> closedSets(LayerGraph graph) {
    int source = 0;
    while (graph.predecessors(source).length > 0) {
      source++;
    }
    Set<Integer> known = new HashSet<>(Set.of(1 << source));
    ArrayDeque<Integer> waiting = new ArrayDeque<>(known);
    while (!waiting.isEmpty()) {
      int set = waiting.remove();
      for (Edge edge : graph.edges()) {
        if ((set >> edge.from() & 1) == 1 && (set >> edge.to() & 1) == 0) {
          int next = set | upTo(graph, edge.to());
          if (known.add(next)) {
            waiting.add(next);
          }
        }
      }
    }
    return known;
  }

  private static int upTo(LayerGraph graph, int layer) {
    int set = 1 << layer;
    for (int predecessor : graph.predecessors(layer)) {
      set |= upTo(graph, predecessor);
    }
    return set;
  }

  /** Layers of the set that somebody outside reads, or that nobody reads. */
  private static int crossing(LayerGraph graph, int set) {
    int crossing = 0;
    for (int layer = 0; layer < graph.size(); layer++) {
      int[] readers = graph.successors(layer);
      boolean open = Arrays.stream(readers).anyMatch(reader -> (set >> reader & 1) == 0);
      if ((set >> layer & 1) == 1 && (open || readers.length == 0)) {
        crossing |= 1 << layer;
      }
    }
    return crossing;
  }

  /**
   * Up to 8 layers in random order, connected: each but one is joined to an earlier or later one.
   */
  private static LayerGraph random(SplittableRandom random) {
    int size = random.nextInt(1, 9);
    int[] order = new int[size];
    for (int i = 0; i < size; i++) {
      int at = random.nextInt(i + 1);
      order[i] = order[at];
      order[at] = i;
    }
    Set<Edge> edges = new HashSet<>();
    int extra = random.nextInt(4);
    for (int to = 1; to < size; to++) {
      edges.add(new Edge(order[random.nextInt(to)], order[to]));
    }
    for (int i = 0; i < extra && size > 1; i++) {
      int to = random.nextInt(1, size);
      edges.add(new Edge(order[random.nextInt(to)], order[to]));
    }
    boolean turned = random.nextBoolean(); // so that there are several sources
    List<Edge> list = edges.stream().map(e -> turned ? new Edge(e.to(), e.from()) : e).toList();
    return graph(size, list);
  }

  private static int mask(int[] layers) {
    return Arrays.stream(layers).map(layer -> 1 << layer).sum();
  }

  private static double[] first(int layers) {
    return Arrays.copyOf(POWERS, layers);
  }

  private static Chain chain(int layers, int... ends) {
    List<Edge> edges = new ArrayList<>();
    for (int i = 0; i < ends.length; i += 2) {
      edges.add(new Edge(ends[i], ends[i + 1]));
    }
    return Chain.of(graph(layers, edges));
  }

  private static LayerGraph graph(int size, List<Edge> edges) {
    List<Layer> layers = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      layers.add(
          new Layer("layer-" + i, new Operator.Recorded(""), Optional.empty(), 0, 0, 0, Work.NONE));
    }
    return new LayerGraph("test", layers, edges);
  }
}
