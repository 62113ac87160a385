package dev.pipewright.planner.partition;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.model.Chain;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.LayerGraph.Edge;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Work;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class OnePathTest {
  private static Chain chain(int size, Edge... edges) {
    List<Layer> layers = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      layers.add(
          new Layer("layer-" + i, new Operator.Recorded(""), Optional.empty(), 0, 0, 0, Work.NONE));
    }
    return Chain.of(new LayerGraph("test", layers, List.of(edges)));
  }

  @Test
  void aChainIsItsOwnPath() {
    assertArrayEquals(
        new int[] {0, 1, 2}, OnePath.positions(chain(3, new Edge(0, 1), new Edge(1, 2))));
  }

  @Test
  void aDiamondIsPassedThroughOneBranchAndThenBoth() { // 0 | 1 | 2 | 1 and 2 | 3
    Chain diamond = chain(4, new Edge(0, 1), new Edge(0, 2), new Edge(1, 3), new Edge(2, 3));
    int[] path = OnePath.positions(diamond);
    assertArrayEquals(new int[] {0, 1, 3, 4}, path);
    assertArrayEquals(
        new double[] {1, 2, 4, 8}, OnePath.weights(diamond, path, new double[] {1, 2, 4, 8}));
  }

  @RepeatedTest(200)
  void positionsFollowOneAnotherAndNoneFitsBetween(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    int size = random.nextInt(1, 10);
    List<Edge> edges = new ArrayList<>();
    for (int to = 1; to < size; to++) {
      edges.add(new Edge(random.nextInt(to), to));
      edges.add(new Edge(random.nextInt(to), to));
    }
    Chain chain = chain(size, edges.toArray(new Edge[0]));
    int[] path = OnePath.positions(chain);
    assertEquals(chain.size() - 1, path[path.length - 1]);
    for (int i = 0; i < path.length; i++) {
      int before = i == 0 ? -1 : path[i - 1];
      assertTrue(before < 0 || chain.precedes(before, path[i]));
      for (int between = 0; between < chain.size(); between++) {
        boolean after = before < 0 || chain.precedes(before, between);
        assertTrue(!after || !chain.precedes(between, path[i]));
      }
    }
    double[] ones = new double[size];
    Arrays.fill(ones, 1);
    assertEquals(size, Arrays.stream(OnePath.weights(chain, path, ones)).sum());
  }
}
