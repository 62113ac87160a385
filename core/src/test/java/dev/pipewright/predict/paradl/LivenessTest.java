package dev.pipewright.predict.paradl;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.LayerGraph.Edge;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Work;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

/** The peak against an interpreter that allocates and frees every tensor by its name. */
class LivenessTest {
  /** Runs one iteration, and remembers the most bytes that were alive. */
  private static final class Interpreter {
    private final Map<String, Double> alive = new HashMap<>();
    private double peak;

    void allocate(String name, double bytes) {
      alive.put(name, bytes);
    }

    void free(String name) {
      alive.remove(name);
    }

    void run() {
      peak = Math.max(peak, alive.values().stream().mapToDouble(Double::doubleValue).sum());
    }

    double iterate(LayerGraph graph, double[] kept, double[] output) {
      List<Integer> done = new ArrayList<>();
      for (int layer : graph.topological()) {
        allocate("kept " + layer, kept[layer]);
        allocate("rest of output " + layer, Math.max(0, output[layer] - kept[layer]));
        run();
        done.add(layer);
        for (int other = 0; other < graph.size(); other++) {
          if (isRead(graph, other) && done.containsAll(readers(graph, other))) {
            free("rest of output " + other);
          }
        }
      }
      for (int layer = 0; layer < graph.size(); layer++) {
        free("rest of output " + layer); // the loss has been computed
      }
      for (int i = done.size() - 1; i >= 0; i--) {
        int layer = done.get(i);
        if (!isRead(graph, layer)) {
          allocate("gradient " + layer, output[layer]);
        }
        for (int from : graph.predecessors(layer)) {
          if (graph.predecessors(from).length > 0) {
            allocate("gradient " + from, output[from]);
          }
        }
        run();
        free("gradient " + layer);
        free("kept " + layer);
      }
      return peak;
    }

    private static boolean isRead(LayerGraph graph, int layer) {
      return graph.successors(layer).length > 0;
    }

    private static List<Integer> readers(LayerGraph graph, int layer) {
      return graph.edges().stream().filter(e -> e.from() == layer).map(Edge::to).toList();
    }
  }

  /** Any directed graph without cycles or parallel edges. */
  private static LayerGraph random(SplittableRandom random) {
    int layers = random.nextInt(1, 13);
    List<Edge> edges = new ArrayList<>();
    for (int to = 1; to < layers; to++) {
      for (int from = 0; from < to; from++) {
        if (from == to - 1 ? random.nextInt(4) > 0 : random.nextInt(5) == 0) {
          edges.add(new Edge(from, to));
        }
      }
    }
    return graph(layers, edges);
  }

  private static LayerGraph graph(int count, List<Edge> edges) {
    List<Layer> layers = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      var operator = new Operator.Recorded("layer");
      layers.add(new Layer("layer" + i, operator, Optional.empty(), 0, 0, 0, Work.NONE));
    }
    return new LayerGraph("random", layers, edges);
  }

  @RepeatedTest(value = 300, name = SmallNet.SEEDED)
  void thePeakIsThatOfAnInterpreter(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    LayerGraph graph = random(random);
    double[] kept = new double[graph.size()];
    double[] output = new double[graph.size()];
    for (int layer = 0; layer < graph.size(); layer++) {
      output[layer] = random.nextInt(3) == 0 ? 0 : random.nextDouble(1, 100);
      kept[layer] =
          switch (random.nextInt(3)) {
            case 0 -> 0;
            case 1 -> output[layer];
            default -> random.nextDouble(150);
          };
    }
    double expected = new Interpreter().iterate(graph, kept, output);
    assertEquals(expected, Liveness.peakBytes(graph, kept, output), 1e-12 * (1 + expected));
  }

  /** input 8 → 4 kept → 2 kept: at the loss 8 + 4 + 2, and the gradients 2 and 4. */
  @Test
  void aChainPeaksAtItsLastBackwardPasses() {
    LayerGraph chain = graph(3, List.of(new Edge(0, 1), new Edge(1, 2)));
    assertEquals(20, Liveness.peakBytes(chain, new double[] {8, 4, 2}, new double[] {8, 4, 2}));
  }

  /** Nothing is kept: two neighbours' outputs, forward and backward alike. */
  @Test
  void anOutputThatNobodyKeepsDiesWithItsLastReader() {
    LayerGraph chain = graph(3, List.of(new Edge(0, 1), new Edge(1, 2)));
    assertEquals(12, Liveness.peakBytes(chain, new double[3], new double[] {8, 4, 2}));
    LayerGraph skip = graph(3, List.of(new Edge(0, 1), new Edge(1, 2), new Edge(0, 2)));
    assertEquals(14, Liveness.peakBytes(skip, new double[3], new double[] {8, 4, 2}));
  }
}
