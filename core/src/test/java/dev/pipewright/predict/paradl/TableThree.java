package dev.pipewright.predict.paradl;

import dev.pipewright.cost.Workload;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.profile.Profile.LayerTimes;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * ParaDL's Table 3 once more, letter by letter and for an epoch of D samples as it is printed: the
 * referee of {@link PublishedFormulas}, which shares no code with it.
 *
 * <p>A chain of layers on {@link SmallNet#nodes}, whose groups of up to four devices stay inside a
 * node.
 */
final class TableThree {
  /** Seconds of an epoch, and bytes. */
  record Row(double comp, double comm, double memory) {}

  /** A layer's |x|, |y|, |w|, |bi|, and its times for one sample. */
  private record L(
      Layer layer, double x, double y, double w, double bi, double fw, double bw, double wu) {}

  private final List<L> layers = new ArrayList<>();
  private final double d;
  private final double b;
  private final double ports;
  private final double gamma;
  private final double delta;

  TableThree(Workload workload, double d, double b, double ports, double gamma) {
    this.d = d;
    this.b = b;
    this.ports = ports;
    this.gamma = gamma;
    this.delta = workload.training().precision().bytes();
    LayerGraph graph = workload.chain().graph();
    List<LayerTimes> times = workload.profile().times(0);
    for (int i = 1; i < graph.size(); i++) { // 0 is the input
      Layer layer = graph.layer(i);
      double x = graph.layer(i - 1).outputElements();
      double bi = biases(layer.operator());
      double w = layer.parameters() - bi;
      LayerTimes t = times.get(i);
      double y = layer.outputElements();
      layers.add(new L(layer, x, y, w, bi, t.forward(), t.backward(), t.update()));
    }
  }

  private static double biases(Operator operator) {
    return switch (operator) {
      case Operator.Convolution c -> c.outChannels();
      case Operator.Linear l -> l.out();
      default -> 0;
    };
  }

  private double sum(ToDoubleFunction<L> value) {
    return layers.stream().mapToDouble(value).sum();
  }

  private double fwBw() {
    return sum(l -> l.fw + l.bw);
  }

  private double w() {
    return sum(L::w);
  }

  /** {@code α + mβ} on the slowest link of p neighbours, 1e-10 s/B and 10 µs between nodes. */
  private static double hop(double p, double bytes) {
    return p <= 4 ? 2e-6 + bytes / 4e10 : 1e-5 + bytes / 1e10;
  }

  /** The same between groups of p2 in different nodes, which all do it at the same time. */
  private double hopAcross(double p2, double bytes) {
    double phi = Math.max(1, p2 / ports);
    return 1e-5 + phi * bytes / 1e10;
  }

  private Row row(double comp, double comm, ToDoubleFunction<L> memory) {
    return new Row(comp, comm, gamma * delta * sum(memory));
  }

  Row serial() {
    double i = d / b;
    return row(d * fwBw() + i * sum(L::wu), 0, l -> 2 * b * (l.x + l.y) + 2 * l.w + l.bi);
  }

  Row data(double p) {
    double i = d / b;
    return row(
        d / p * fwBw() + i * sum(L::wu),
        2 * i * (p - 1) * hop(p, w() / p * delta),
        l -> 2 * b / p * (l.x + l.y) + 2 * l.w + l.bi);
  }

  /** {@code pw · ph · …} parts. */
  Row spatial(int... grid) {
    double i = d / b;
    double p = 1;
    for (int parts : grid) {
      p *= parts;
    }
    double all = p;
    double comm = 2 * i * ((p - 1) * hop(p, w() / p * delta) + halos(all, b, grid));
    return row(
        d / p * fwBw() + i * sum(L::wu), comm, l -> 2 * b * (l.x + l.y) / all + 2 * l.w + l.bi);
  }

  /** {@code Σ(2α + B(halo(x) + halo(dy))δβ)} over the layers that have one. */
  private double halos(double p, double samples, int... grid) {
    double alpha = hop(p, 0);
    double beta = hop(p, 1) - alpha;
    double sum = 0;
    for (int i = 0; i < layers.size(); i++) {
      double x = halo(i, i - 1, grid);
      double y = halo(i, i, grid);
      sum += x + y == 0 ? 0 : 2 * alpha + samples * (x + y) * delta * beta;
    }
    return sum;
  }

  /** ⌊K/2⌋ rows of each split axis, of the output of layer {@code map} (-1: of the input). */
  private double halo(int window, int map, int... grid) {
    List<Integer> kernel =
        switch (layers.get(window).layer.operator()) {
          case Operator.Convolution c -> c.kernel();
          case Operator.Pooling p -> p.kernel();
          default -> List.of();
        };
    if (kernel.isEmpty()) {
      return 0;
    }
    List<Integer> shape = shape(map);
    double sum = 0;
    for (int axis = 0; axis < grid.length; axis++) {
      double rest = 1;
      for (int other = 0; other < shape.size(); other++) {
        rest *= other == axis + 1 ? 1 : shape.get(other);
      }
      sum += grid[axis] > 1 ? Math.floor(kernel.get(axis) / 2.0) * rest : 0;
    }
    return sum;
  }

  private List<Integer> shape(int map) {
    if (map >= 0) {
      return layers.get(map).layer.output().orElseThrow().extents();
    }
    var first = (Operator.Convolution) layers.get(0).layer.operator();
    List<Integer> shape = new ArrayList<>(shape(0)); // padded, moving by one: the same extents
    shape.set(0, first.inChannels());
    return shape;
  }

  /** Formulas 12 and 13 as printed, for stages of whole layers; {@code ends} counts layers. */
  Row pipeline(double s, int... ends) {
    double p = ends.length;
    double fw = 0;
    double bw = 0;
    double wu = 0;
    double hop = 0;
    double memory = 0;
    int first = 0;
    for (int end : ends) {
      List<L> group = layers.subList(first, end);
      double gf = group.stream().mapToDouble(L::fw).sum();
      double gb = group.stream().mapToDouble(L::bw).sum();
      fw = Math.max(fw, gf);
      bw = Math.max(bw, gb);
      wu = Math.max(wu, group.stream().mapToDouble(L::wu).sum());
      memory =
          Math.max(
              memory, group.stream().mapToDouble(l -> 2 * b * (l.x + l.y) + 2 * l.w + l.bi).sum());
      if (end < layers.size()) {
        hop = Math.max(hop, hop(p, b / s * layers.get(end - 1).y * delta));
      }
      first = end;
    }
    double comp = d * (p + s - 1) / s * (fw + bw + wu); // formula 12, its error included
    return new Row(comp, 2 * d * (p + s - 2) / b * hop, gamma * delta * memory);
  }

  Row filter(double p) {
    double i = d / b;
    return row(
        d / p * fwBw() + i / p * sum(L::wu),
        layerWise(p, p, b),
        l -> 2 * b * (l.x + l.y) + 2 * l.w / p + l.bi);
  }

  /** {@code 3I(p2−1)Σ(α + (B|y|/p)δβ)} over all layers but the last. */
  private double layerWise(double p2, double p, double batch) {
    double sum = 0;
    for (L l : layers.subList(0, layers.size() - 1)) {
      sum += hop(p2, batch * l.y / p * delta);
    }
    return 3 * d / b * (p2 - 1) * sum;
  }

  Row dataFilter(double p1, double p2) {
    double i = d / b;
    double p = p1 * p2;
    double exchange = 2 * i * (p1 - 1) * hopAcross(p2, w() / p * delta);
    return row(
        d / p * fwBw() + i / p2 * sum(L::wu),
        layerWise(p2, p, b) + exchange,
        l -> 2 * b / p1 * (l.x + l.y) + 2 * l.w / p2 + l.bi);
  }

  /** Reduce to the leader of each group, all-reduce between leaders, broadcast. */
  Row dataSpatial(double p1, int... grid) {
    double i = d / b;
    double p2 = 1;
    for (int parts : grid) {
      p2 *= parts;
    }
    double p = p1 * p2;
    double bytes = w() * delta;
    double leaders = 2 * i * (p1 - 1) * (1e-5 + bytes / p1 / 1e10);
    double exchange = 2 * i * tree(p2, bytes) + leaders;
    return row(
        d / p * fwBw() + i * sum(L::wu),
        2 * i * halos(p2, b / p1, grid) + exchange,
        l -> 2 * b * (l.x + l.y) / p + 2 * l.w + l.bi);
  }

  /** Two trees with half of the message each: {@code (h + k − 1)(α + 2(m/2k)β)}, the best k. */
  private static double tree(double p, double bytes) {
    double height = Math.ceil(Math.log(p) / Math.log(2) - 1e-9);
    double flows = p == 2 ? 1 : 2;
    double best = Double.POSITIVE_INFINITY;
    for (int k = 1; k < 100_000; k++) {
      best = Math.min(best, (height + k - 1) * (2e-6 + flows * bytes / (2.0 * k) / 4e10));
    }
    return best;
  }
}
