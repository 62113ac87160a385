package dev.pipewright.predict.paradl;

import dev.pipewright.cost.Collectives;
import java.util.function.IntToDoubleFunction;

/**
 * ParaDL's Table 3 as printed, for one iteration instead of an epoch: T<sub>comp</sub> +
 * T<sub>comm</sub>, all layers split alike, one α and β (the slowest link that a group crosses),
 * rings.
 *
 * <p>D is the batch here, so that I = 1. The paper's formula 12 charges the weight update of a
 * pipeline once per segment and sample; it is kept as it is. Memory is the naive sum times γ.
 */
final class PublishedFormulas implements StrategyFormulas {
  private final ParadlNetwork network;
  private final Setting setting;
  private final GroupPlacement placement;

  PublishedFormulas(ParadlNetwork network, Setting setting) {
    this.network = network;
    this.setting = setting;
    this.placement = new GroupPlacement(network.workload().cluster());
  }

  @Override
  public Phases phases(Layout layout, long globalBatch) {
    return layout.strategy().pipelined()
        ? pipeline(layout, globalBatch)
        : split(layout, globalBatch);
  }

  @Override
  public Estimate estimate(Layout layout, long globalBatch) {
    Phases phases = phases(layout, globalBatch);
    double exchange = phases.seconds(Phase.GRADIENT_EXCHANGE);
    MemoryUse memory = memory(layout, globalBatch).times(setting.memoryReuse().orElse(1));
    return new Estimate(
        phases, memory, placement.acrossGroups(layout).contention(), 0, 1, () -> exchange);
  }

  private Phases split(Layout layout, long batch) {
    double devices = layout.devices();
    double update = network.updateSeconds() / updateParts(layout);
    Phases phases =
        Phases.none()
            .with(Phase.FORWARD_BACKWARD, computeSeconds(layout, batch) / devices)
            .with(Phase.WEIGHT_UPDATE, update);
    return switch (layout.strategy().split()) {
      case NOTHING -> exchanged(phases, layout, placement.everybody(layout));
      case FILTERS, CHANNELS -> layerWise(phases, layout, batch);
      case POSITIONS -> spatial(phases, layout, batch);
      case HEADS, SEQUENCES, TOKENS, EXPERTS ->
          throw new IllegalArgumentException("Table 3 has no such strategy: layout=" + layout);
    };
  }

  /** {@code D Σ(FW + BW)}, at the times per sample of the slice that a device computes. */
  private double computeSeconds(Layout layout, long batch) {
    double slice = (double) batch / layout.groups();
    return network.seconds(slice) * layout.groups();
  }

  private static double updateParts(Layout layout) {
    return switch (layout.strategy().split()) {
      case FILTERS, CHANNELS -> layout.parts();
      default -> layout.strategy().zeroStage() > 0 ? layout.groups() : 1;
    };
  }

  private double weightBytes() {
    return sum(layer -> network.layer(layer).weights()) * network.bytesPerElement();
  }

  private double sum(IntToDoubleFunction ofLayer) {
    double sum = 0;
    for (int layer = 0; layer < network.size(); layer++) {
      sum += ofLayer.applyAsDouble(layer);
    }
    return sum;
  }

  /** {@code 2(p−1)(α + Σ|w|δβ/p)}; ZeRO-3 gathers the weights once more (ParaDL §5.3.2). */
  private Phases exchanged(Phases phases, Layout layout, Collectives all) {
    Phases sum = phases.with(Phase.GRADIENT_EXCHANGE, all.ringAllReduce(weightBytes()));
    return layout.strategy() == Strategy.ZERO3
        ? sum.with(Phase.LAYER_ALL_GATHER, all.ringAllGather(weightBytes()))
        : sum;
  }

  /** {@code 3(p2−1)Σ(α + B|y|δβ/p)}: one step of three gathers, two reduce. */
  private Phases layerWise(Phases phases, Layout layout, long batch) {
    Collectives inside = placement.insideGroups(layout);
    double samples = (double) batch / layout.groups();
    double gather = 0;
    int last = lastSplit();
    for (int layer = 0; layer < last; layer++) {
      if (splits(layer)) {
        double bytes = samples * network.layer(layer).outElements() * network.bytesPerElement();
        gather += inside.ringAllGather(bytes);
      }
    }
    double across = placement.acrossGroups(layout).ringAllReduce(weightBytes() / layout.parts());
    return phases
        .with(Phase.LAYER_ALL_GATHER, gather)
        .with(Phase.LAYER_ALL_REDUCE, 2 * gather)
        .with(Phase.GRADIENT_EXCHANGE, layout.groups() == 1 ? 0 : across);
  }

  private boolean splits(int layer) {
    return network.mayBeSplit(layer) && network.layer(layer).kind() != Geometry.Kind.INPUT;
  }

  /** The layer G of the sum to G − 1. */
  private int lastSplit() {
    return network.size() - 1;
  }

  /** Halo of x and dL/dy of every layer with a window, there and back, and the weights' sum. */
  private Phases spatial(Phases phases, Layout layout, long batch) {
    Collectives inside = placement.insideGroups(layout);
    double samples = (double) batch / layout.groups() * network.bytesPerElement();
    double halo = 0;
    for (int layer = 0; layer < network.size(); layer++) {
      Geometry l = network.layer(layer);
      if (splits(layer) && l.hasPositions() && !l.kernel().isEmpty()) {
        double x = samples * haloElements(l, layout, true);
        double y = samples * haloElements(l, layout, false);
        halo += x + y == 0 ? 0 : 2 * (inside.pointToPoint(x) + inside.pointToPoint(y));
      }
    }
    Phases sum = phases.with(Phase.HALO, halo);
    if (layout.groups() == 1) {
      return exchanged(sum, layout, inside);
    }
    double bytes = weightBytes();
    double reduce = inside.reduce(bytes) + inside.broadcast(bytes);
    double between = placement.leaders(layout).ringAllReduce(bytes);
    return sum.with(Phase.GRADIENT_EXCHANGE, reduce + between);
  }

  /** {@code ⌊K/2⌋} rows of the other extents, along each axis that is split. */
  private static double haloElements(Geometry layer, Layout layout, boolean input) {
    var extents = input ? layer.in() : layer.out();
    double perPosition = input ? layer.channels() : layer.filters();
    double sum = 0;
    for (int axis = 0; axis < layout.grid().size(); axis++) {
      if (layout.grid().get(axis) > 1) {
        double rows = layer.kernel().get(axis) / 2;
        for (int other = 0; other < extents.size(); other++) {
          rows *= other == axis ? 1 : extents.get(other);
        }
        sum += rows * perPosition;
      }
    }
    return sum;
  }

  /** Formulas 12 and 13, with p stages that are balanced by their time. */
  private Phases pipeline(Layout layout, long batch) {
    StageCut cut = network.stages(layout.stages());
    double segments = layout.segments();
    double samples = (double) batch / layout.groups();
    double slots = layout.stages() + segments - 1;
    double forward = 0;
    double backward = 0;
    double update = 0;
    double transfer = 0;
    Collectives link = placement.insideGroups(layout);
    for (int stage = 0; stage < layout.stages(); stage++) {
      double there = cut.forwardSeconds(stage, samples / segments);
      forward = Math.max(forward, there);
      backward = Math.max(backward, cut.seconds(stage, samples / segments) - there);
      update = Math.max(update, cut.updateSeconds(stage));
      if (stage > 0) {
        double bytes = samples / segments * cut.inputBytes(stage);
        transfer = Math.max(transfer, link.pointToPoint(bytes));
      }
    }
    double slowest = forward + backward; // perhaps of two stages, as printed
    double updates = slots * samples / segments; // the erratum: WU is a time per iteration
    return Phases.none()
        .with(Phase.FORWARD_BACKWARD, segments * slowest)
        .with(Phase.WAITING, (layout.stages() - 1) * slowest)
        .with(Phase.WEIGHT_UPDATE, updates * update)
        .with(Phase.POINT_TO_POINT, 2 * (layout.stages() + segments - 2) * transfer);
  }

  /** {@code δΣ(2B(|x| + |y|) + 2|w| + |bi|)} with what each strategy divides. */
  private MemoryUse memory(Layout layout, long batch) {
    double delta = network.bytesPerElement();
    double samples = (double) batch / layout.groups();
    if (layout.strategy().pipelined()) {
      return network.stages(layout.stages()).naiveMemory(samples, delta);
    }
    double activations = sum(layer -> network.layer(layer).activations());
    boolean weightsSplit = updateParts(layout) > 1 && layout.strategy().zeroStage() == 0;
    double parts = weightsSplit ? layout.parts() : 1;
    double spread = layout.strategy().split() == Strategy.Split.POSITIONS ? layout.parts() : 1;
    double weights = sum(layer -> network.layer(layer).weights());
    double biases = sum(layer -> network.layer(layer).biases());
    int zero = layout.strategy().zeroStage();
    double shard = layout.groups();
    return new MemoryUse(
        delta * (weights / parts / (zero >= 3 ? shard : 1) + biases),
        delta * weights / parts / (zero >= 2 ? shard : 1),
        0,
        delta * 2 * samples * activations / spread,
        0);
  }
}
