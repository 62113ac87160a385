package dev.pipewright.cost.strategy;

import dev.pipewright.cost.Collectives;
import dev.pipewright.cost.Part;
import dev.pipewright.cost.strategy.Strategy.Split;
import dev.pipewright.model.Training;
import java.util.List;

/** Seconds and bytes of a strategy whose devices all work on all layers. */
final class SplitEstimate {
  private final Network network;
  private final Setting setting;
  private final Layout layout;
  private final List<LayerShare> shares;
  private final double samples; // of one group
  private final double delta;
  private final Collectives inside;
  private final Collectives across;
  private final Collectives leaders;
  private final Collectives everybody;

  SplitEstimate(
      Network network,
      Setting setting,
      Layout layout,
      Placement placement,
      List<LayerShare> shares,
      long globalBatch) {
    this.network = network;
    this.setting = setting;
    this.layout = layout;
    this.shares = shares;
    this.samples = Math.ceilDiv(globalBatch, (long) layout.groups());
    this.delta = network.bytesPerElement();
    this.inside = placement.insideGroups(layout);
    this.across = placement.acrossGroups(layout);
    boolean spatial = layout.strategy().split() == Split.POSITIONS;
    this.leaders = spatial ? placement.leaders(layout) : Collectives.NONE;
    this.everybody = spatial ? placement.everybody(layout) : Collectives.NONE;
  }

  Phases phases() {
    double seconds = 0;
    double update = 0;
    for (int layer = 0; layer < network.size(); layer++) {
      seconds += seconds(layer);
      update += network.updateSeconds(layer) * weightShare(layer);
    }
    int zero = layout.strategy().zeroStage();
    Phases phases =
        Phases.none()
            .with(Phase.FORWARD_BACKWARD, seconds)
            .with(Phase.WEIGHT_UPDATE, zero > 0 ? update / layout.groups() : update);
    if (layout.devices() > 1) {
      double waiting = network.workload().cluster().software().waitingShare();
      phases = phases.with(Phase.WAITING, seconds * waiting);
    }
    phases = layerWise(phases);
    phases = phases.with(Phase.GRADIENT_EXCHANGE, exchangeSeconds(setting.exchange()));
    if (zero == 3) {
      double weights = Gradients.all(this::gradients, network.size()).own();
      phases = phases.with(Phase.LAYER_ALL_GATHER, across.ringAllGather(weights));
    }
    return phases;
  }

  private double seconds(int layer) {
    return network.seconds(layer, samples, shares.get(layer).part());
  }

  /** The share of a layer's weights that one device has. */
  private double weightShare(int layer) {
    Part part = shares.get(layer).part();
    return part.filters() * part.channels();
  }

  Estimate estimate() {
    double redundant = 0;
    for (int layer = 0; layer < network.size(); layer++) {
      boolean alike = layout.parts() > 1 && !shares.get(layer).split();
      redundant += alike ? seconds(layer) : 0;
    }
    return new Estimate(
        phases(),
        memory(),
        Math.max(inside.contention(), across.contention()),
        redundant,
        1,
        () -> exchangeSeconds(Setting.Exchange.CHEAPEST));
  }

  private Phases layerWise(Phases phases) {
    Phases sum = phases;
    boolean first = true;
    for (int layer = 0; layer < network.size(); layer++) {
      Geometry l = network.layer(layer);
      if (shares.get(layer).split()) {
        sum =
            switch (layout.strategy().split()) {
              case FILTERS -> filters(sum, l, first);
              case CHANNELS -> channels(sum, l);
              case POSITIONS -> positions(sum, l, layer);
              default -> sum;
            };
      }
      first &= !l.kind().product();
    }
    return sum;
  }

  /** Gathers y forward, sums the shares of dL/dx backward; nobody needs that of the first. */
  private Phases filters(Phases phases, Geometry layer, boolean first) {
    double y = samples * layer.outElements() * delta;
    double x = first ? 0 : samples * layer.inElements() * delta;
    return phases
        .with(Phase.LAYER_ALL_GATHER, inside.ringAllGather(y))
        .with(Phase.LAYER_ALL_REDUCE, inside.ringAllReduce(x));
  }

  /** Sums the shares of y forward, gathers dL/dx backward. */
  private Phases channels(Phases phases, Geometry layer) {
    double y = samples * layer.outElements() * delta;
    double x = samples * layer.inElements() * delta;
    return phases
        .with(Phase.LAYER_ALL_REDUCE, inside.ringAllReduce(y))
        .with(Phase.LAYER_ALL_GATHER, inside.ringAllGather(x));
  }

  private Phases positions(Phases phases, Geometry layer, int number) {
    Phases sum = phases;
    if (shares.get(number).gathersAfter()) {
      double y = samples * layer.outElements() * delta;
      sum = sum.with(Phase.LAYER_ALL_GATHER, inside.ringAllGather(y));
    }
    return sum.with(Phase.HALO, haloSeconds(layer));
  }

  /** Along each axis to one neighbour and then to the other: x forward, dL/dy backward. */
  private double haloSeconds(Geometry layer) {
    double seconds = 0;
    for (int axis = 0; axis < layout.grid().size(); axis++) {
      int parts = layout.grid().get(axis);
      if (parts > 1 && !layer.window().kernel().isEmpty()) {
        int in = layer.in().get(axis);
        int out = layer.out().get(axis);
        int reach = layer.window().reach(axis);
        int stride = layer.window().stride().get(axis);
        int padding = layer.window().padding().get(axis);
        Halo x = Halo.forward(in, out, reach, stride, padding, parts);
        Halo y = Halo.backward(in, out, reach, stride, padding, parts);
        double xRow = row(layer.in(), layer.channels(), axis);
        double yRow = row(layer.out(), layer.filters(), axis);
        seconds += exchangeSeconds(x, xRow, parts) + exchangeSeconds(y, yRow, parts);
      }
    }
    return seconds;
  }

  /** Bytes of one row of the part's other extents. */
  private double row(List<Integer> extents, int channels, int axis) {
    double elements = channels;
    for (int other = 0; other < extents.size(); other++) {
      if (other != axis) {
        elements *= Halo.largest(extents.get(other), layout.grid().get(other));
      }
    }
    return elements * samples * delta;
  }

  /** Two parts have one neighbour each and exchange at the same time. */
  private double exchangeSeconds(Halo halo, double rowBytes, int parts) {
    double before = halo.before() == 0 ? 0 : inside.pointToPoint(halo.before() * rowBytes);
    double after = halo.after() == 0 ? 0 : inside.pointToPoint(halo.after() * rowBytes);
    return parts == 2 ? Math.max(before, after) : before + after;
  }

  /** Seconds of the gradient exchange. */
  private double exchangeSeconds(Setting.Exchange how) {
    boolean fused =
        !layout.strategy().hybrid()
            || how == Setting.Exchange.CHEAPEST
            || network.workload().cluster().software().fusesGroups();
    double seconds = 0;
    for (Gradients message :
        fused
            ? List.of(Gradients.all(this::gradients, network.size()))
            : Gradients.byLayer(this::gradients, network)) {
      seconds += reduced(message.own(), across, how) + spatial(message.shared(), how);
    }
    return seconds;
  }

  /**
   * Bytes of a layer's gradients on one device. Those of split positions are sums over the group;
   * all others only over the groups.
   */
  private Gradients gradients(int layer) {
    LayerShare share = shares.get(layer);
    double bytes = network.parameterBytes(layer) * share.part().filters() * share.part().channels();
    boolean parts = share.split() && layout.parts() > 1; // a group of one has no sums of its own
    return parts && layout.strategy().split() == Split.POSITIONS
        ? new Gradients(0, bytes)
        : new Gradients(bytes, 0);
  }

  private double spatial(double bytes, Setting.Exchange how) {
    if (bytes == 0) {
      return 0;
    }
    double together = reduced(bytes, everybody, how);
    double throughLeaders =
        inside.reduce(bytes) + reduced(bytes, leaders, how) + inside.broadcast(bytes);
    return switch (how) {
      case USUAL, LEADER -> layout.groups() > 1 ? throughLeaders : together;
      case CHEAPEST -> Math.min(together, throughLeaders);
      case RING, TREE, HIERARCHICAL -> together;
    };
  }

  private static double reduced(double bytes, Collectives group, Setting.Exchange how) {
    if (bytes == 0 || group.members() == 1) {
      return 0;
    }
    return switch (how) {
      case USUAL, RING, LEADER -> group.ringAllReduce(bytes);
      case TREE -> group.treeAllReduce(bytes);
      case HIERARCHICAL -> group.hierarchicalAllReduce(bytes);
      case CHEAPEST -> group.allReduce(bytes);
    };
  }

  private MemoryUse memory() {
    Training training = network.workload().training();
    double moments = training.staticBytesPerParameter() / delta - 2; // weight and gradient apart
    double parameters = 0;
    double[] kept = network.workload().profile().keptBytes();
    double[] output = network.workload().profile().outputBytes();
    double gathered = 0;
    for (int layer = 0; layer < network.size(); layer++) {
      LayerShare share = shares.get(layer);
      parameters += network.parameterBytes(layer) * weightShare(layer);
      kept[layer] *= samples * share.part().positions();
      output[layer] *= samples * share.part().positions();
      if (share.split() && layout.strategy().split() != Split.POSITIONS) {
        gathered = Math.max(gathered, output[layer]); // the parts, beside what they are joined to
      }
    }
    double activations = Liveness.peakBytes(network.graph(), kept, output);
    int zero = layout.strategy().zeroStage();
    double shard = layout.groups();
    double largest = zero == 3 ? largestLayerBytes() : 0;
    MemoryUse use =
        new MemoryUse(
            parameters / (zero >= 3 ? shard : 1),
            parameters / (zero >= 2 ? shard : 1),
            parameters * moments / (zero >= 1 ? shard : 1),
            activations,
            gathered + largest);
    return setting.memoryReuse().isPresent() ? use.times(setting.memoryReuse().getAsDouble()) : use;
  }

  /** ZeRO-3 holds the layer at work whole, its weights and its gradients. */
  private double largestLayerBytes() {
    double largest = 0;
    for (int layer = 0; layer < network.size(); layer++) {
      largest = Math.max(largest, 2 * network.parameterBytes(layer));
    }
    return largest;
  }
}
