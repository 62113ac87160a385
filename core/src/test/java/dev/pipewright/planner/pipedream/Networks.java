package dev.pipewright.planner.pipedream;

import dev.pipewright.model.Chain;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.LayerGraph.Edge;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Work;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;

/** Small networks with figures of every size, for referees. */
record Networks(Chain chain, double[] seconds, double[] parameters, double[] outputs) {

  /** A chain, or with {@code branches} a network of one source and one sink. */
  static Networks random(SplittableRandom random, int most, boolean branches) {
    int size = random.nextInt(1, most + 1);
    Set<Edge> edges = new LinkedHashSet<>();
    for (int to = 1; to < size; to++) {
      edges.add(new Edge(branches ? random.nextInt(Math.max(0, to - 3), to) : to - 1, to));
      if (branches && random.nextInt(3) == 0) {
        edges.add(new Edge(random.nextInt(to), to));
      }
    }
    for (int layer = 0; layer < size - 1; layer++) {
      int from = layer;
      if (edges.stream().noneMatch(edge -> edge.from() == from)) {
        edges.add(new Edge(layer, size - 1));
      }
    }
    return new Networks(
        Chain.of(graph(size, List.copyOf(edges))),
        skewed(random, size, 1),
        skewed(random, size, 1e9),
        skewed(random, size, 1e9));
  }

  /** Zeros, equal ones and ones that are far apart. */
  private static double[] skewed(SplittableRandom random, int size, double most) {
    double scale = most * Math.pow(10, -random.nextInt(4));
    return random
        .doubles(size)
        .map(x -> x < 0.15 ? 0 : x < 0.3 ? scale / 2 : x * x * x * scale)
        .toArray();
  }

  static LayerGraph graph(int size, List<Edge> edges) {
    List<Layer> layers = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      layers.add(
          new Layer("layer-" + i, new Operator.Recorded(""), Optional.empty(), 0, 0, 0, Work.NONE));
    }
    return new LayerGraph("test", layers, edges);
  }

  CutCosts costs() {
    return CutCosts.of(chain, seconds, parameters, outputs);
  }

  static List<BandwidthLevel> levels(SplittableRandom random, int count, int most) {
    List<BandwidthLevel> levels = new ArrayList<>();
    for (int level = 0; level < count; level++) {
      levels.add(
          new BandwidthLevel(random.nextInt(1, most + 1), Math.pow(10, random.nextInt(7, 11))));
    }
    return levels;
  }
}
