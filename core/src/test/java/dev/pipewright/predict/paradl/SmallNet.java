package dev.pipewright.predict.paradl;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.Level;
import dev.pipewright.cluster.Link;
import dev.pipewright.cluster.Software;
import dev.pipewright.cost.Samples;
import dev.pipewright.cost.Workload;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.LayerGraph.Edge;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Shape;
import dev.pipewright.model.Training;
import dev.pipewright.model.Work;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.LayerSizes;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.profile.Provenance;
import dev.pipewright.units.Precision;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * Convolutional networks built layer by layer, with times made up so that a layer's are
 * proportional to the batch: the setting in which the formulas of ParaDL hold to the letter.
 */
final class SmallNet {
  static final String SEEDED = "seed {currentRepetition}";

  /** Sums of gradients take as long as they would after the backward pass. */
  static final Software WITHOUT_OVERLAP = Software.IDEAL.withOverlap(0);

  private final List<Layer> layers = new ArrayList<>();
  private final List<Edge> edges = new ArrayList<>();
  private int channels;
  private List<Integer> extents;

  private SmallNet(int channels, List<Integer> extents) {
    this.channels = channels;
    this.extents = extents;
  }

  static SmallNet input(int channels, Integer... extents) {
    SmallNet net = new SmallNet(channels, List.of(extents));
    net.add(new Operator.Input(), 0, 0, Work.NONE);
    return net;
  }

  SmallNet convolution(int filters, int kernel, int stride, int padding) {
    return convolution(filters, kernel, stride, padding, true);
  }

  SmallNet convolution(int filters, int kernel, int stride, int padding, boolean bias) {
    int axes = extents.size();
    double weights = Math.pow(kernel, axes) * channels * filters;
    var operator =
        new Operator.Convolution(
            channels,
            filters,
            Collections.nCopies(axes, kernel),
            Collections.nCopies(axes, stride),
            Collections.nCopies(axes, padding),
            Collections.nCopies(axes, 1),
            1,
            bias);
    long before = elements();
    slide(kernel, stride, padding);
    channels = filters;
    double flop = 2 * weights * elements() / filters;
    Work work = new Work(flop, flop, flop, before + (double) elements());
    return add(operator, (long) weights + (bias ? filters : 0), elements(), work);
  }

  SmallNet pooling(int kernel, int stride) {
    int axes = extents.size();
    var operator =
        new Operator.Pooling(
            Operator.Pooling.Kind.MAX,
            Collections.nCopies(axes, kernel),
            Collections.nCopies(axes, stride),
            Collections.nCopies(axes, 0));
    long before = elements();
    slide(kernel, stride, 0);
    return add(operator, 0, elements(), new Work(elements(), before, 0, before + elements()));
  }

  private void slide(int kernel, int stride, int padding) {
    extents = extents.stream().map(x -> (x + 2 * padding - kernel) / stride + 1).toList();
  }

  SmallNet relu() {
    Work work = new Work(elements(), elements(), 0, 2.0 * elements());
    return add(new Operator.Elementwise("relu"), 0, elements(), work);
  }

  SmallNet connected(int features) {
    long read = elements();
    int in = Math.toIntExact(read);
    channels = features;
    extents = List.of();
    double flop = 2.0 * read * features;
    Work work = new Work(flop, flop, flop, (double) read + features);
    return add(new Operator.Linear(in, features, true), (read + 1) * features, features, work);
  }

  /** The sum with the output of an earlier layer of the same shape. */
  SmallNet plus(int earlier) {
    Work work = new Work(elements(), 0, 0, 3.0 * elements());
    add(new Operator.Elementwise("add"), 0, 0, work);
    edges.add(new Edge(earlier, last()));
    return this;
  }

  int last() {
    return layers.size() - 1;
  }

  private long elements() {
    return shape().elements();
  }

  private Shape shape() {
    List<Integer> all = new ArrayList<>(extents);
    all.add(0, channels);
    return new Shape(all);
  }

  private SmallNet add(Operator operator, long parameters, long kept, Work work) {
    String name = operator.getClass().getSimpleName().toLowerCase(java.util.Locale.ROOT);
    name += layers.size();
    layers.add(new Layer(name, operator, Optional.of(shape()), parameters, elements(), kept, work));
    if (layers.size() > 1) {
      edges.add(new Edge(layers.size() - 2, layers.size() - 1));
    }
    return this;
  }

  LayerGraph graph() {
    return new LayerGraph("small net", layers, edges);
  }

  /** On a cluster, trained with Adam in 32 bits, with random times. */
  Workload on(Cluster cluster, long seed) {
    return on(cluster, seed, new Training(Optimizer.ADAM, Precision.FP32));
  }

  Workload on(Cluster cluster, long seed, Training training) {
    SplittableRandom random = new SplittableRandom(seed);
    double delta = training.precision().bytes();
    List<LayerSizes> sizes = new ArrayList<>();
    List<LayerTimes> times = new ArrayList<>();
    for (Layer layer : layers) {
      sizes.add(
          new LayerSizes(
              layer.outputElements() * delta,
              layer.keptElements() * delta,
              layer.parameters() * delta));
      boolean works = !(layer.operator() instanceof Operator.Input);
      double forward = works ? random.nextDouble(1e-4, 1e-3) : 0;
      double update = layer.parameters() > 0 ? random.nextDouble(1e-4, 1e-3) : 0;
      double backward = forward * random.nextDouble(1, 3);
      times.add(new LayerTimes(forward, backward, backward * 0.4, update));
    }
    Provenance source = new Provenance("made up", "k", "", false);
    Profile profile = new Profile(source, training.precision(), sizes, List.of(1), List.of(times));
    return new Workload(Chain.of(graph()), profile, training, cluster);
  }

  /** Convolutions, poolings and sums in some order, then one or two connected layers. */
  static SmallNet random(SplittableRandom random) {
    SmallNet net = input(random.nextInt(1, 4), random.nextInt(12, 25), random.nextInt(12, 25));
    net.convolution(random.nextInt(4, 9), 3, 1, 1);
    for (int i = random.nextInt(1, 6); i > 0; i--) {
      switch (random.nextInt(4)) {
        case 0 -> net.relu();
        case 1 -> net.convolution(random.nextInt(4, 13), 2 * random.nextInt(2) + 1, 1, 0);
        case 2 -> {
          int earlier = net.last();
          net.convolution(net.channels, 3, 1, 1).plus(earlier);
        }
        default -> net.smallest();
      }
    }
    for (int i = random.nextInt(1, 3); i > 0; i--) {
      net.connected(random.nextInt(4, 20));
    }
    return net;
  }

  private void smallest() {
    if (extents.stream().allMatch(x -> x >= 8)) {
      pooling(2, 2);
    } else {
      relu();
    }
  }

  /** Nodes of four devices behind so many ports. */
  static Cluster nodes(int nodes, double ports) {
    return nodes(nodes, ports, 1, 1);
  }

  /** The same with so many times the latency and the bandwidth on all links. */
  static Cluster nodes(int nodes, double ports, double latency, double bandwidth) {
    Link inside = Link.of(2e-6 * latency, 4e10 * bandwidth);
    Link across = Link.of(1e-5 * latency, 1e10 * bandwidth);
    List<Level> levels =
        List.of(new Level("node", inside, inside), new Level("cluster", across, across, ports));
    return Cluster.uniform("nodes", Samples.kind("k", 1L << 34, 1e13), levels, 4, nodes)
        .withSoftware(WITHOUT_OVERLAP);
  }
}
