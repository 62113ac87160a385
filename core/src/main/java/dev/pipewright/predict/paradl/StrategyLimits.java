package dev.pipewright.predict.paradl;

import dev.pipewright.model.Layer;
import dev.pipewright.parallel.BlockShape;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.ParallelismLimits;
import dev.pipewright.predict.paradl.Setting.Formulas;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;

/** How many devices a strategy can use at most, and which number says so (ParaDL, Table 3). */
final class StrategyLimits {
  private final ParadlNetwork network;
  private final Setting setting;

  StrategyLimits(ParadlNetwork network, Setting setting) {
    this.network = network;
    this.setting = setting;
  }

  /** The most parts that a group can have, with the layer that sets it. */
  ScalingLimit parts(Strategy strategy) {
    return switch (strategy.split()) {
      case NOTHING -> new ScalingLimit("scaling", 1, "one device has the whole network");
      case FILTERS -> narrowest(false);
      case CHANNELS -> narrowest(true);
      case POSITIONS -> positions();
      case HEADS, SEQUENCES -> blocks(block -> OptionalInt.of(block.heads()), "heads");
      case TOKENS -> blocks(block -> OptionalInt.of(block.sequence()), "tokens");
      case EXPERTS -> experts();
    };
  }

  /** The most stages that a group can have. */
  ScalingLimit stages(Strategy strategy) {
    return strategy.pipelined() ? layers() : new ScalingLimit("scaling", 1, "there is no pipeline");
  }

  /** The most devices of a group. */
  private ScalingLimit group(Strategy strategy) {
    if (!strategy.pipelined()) {
      return parts(strategy);
    }
    ScalingLimit stages = layers();
    if (strategy.split() == Strategy.Split.NOTHING) {
      return stages;
    }
    ScalingLimit parts = parts(strategy);
    return parts.devices() == 0
        ? parts
        : new ScalingLimit(
            "scaling",
            (int) Math.min(Integer.MAX_VALUE, (long) parts.devices() * stages.devices()),
            parts.why() + " and " + stages.why());
  }

  /** The most devices over all groups. */
  ScalingLimit devices(Strategy strategy, long batch) {
    ScalingLimit parts = group(strategy);
    if (!strategy.replicates()) {
      return parts;
    }
    long most = Math.min(Integer.MAX_VALUE, (long) parts.devices() * batch);
    String why = "a device or group needs a sample of the batch of " + batch;
    return parts.devices() == 1
        ? new ScalingLimit("scaling", (int) most, why)
        : new ScalingLimit("scaling", (int) most, why + "; in a group " + parts.why());
  }

  private ScalingLimit narrowest(boolean channels) {
    String what = channels ? "input channels" : "filters";
    return setting.formulas() == Formulas.PUBLISHED
        ? narrowestOfAll(channels, what)
        : narrowest(channels ? Parallelism.Kind.CHANNEL : Parallelism.Kind.FILTER, what);
  }

  /** Of the layers that plans divide. */
  private ScalingLimit narrowest(Parallelism.Kind kind, String what) {
    ParallelismLimits limits = new ParallelismLimits(network.graph());
    OptionalInt layer = limits.narrowest(kind);
    if (layer.isEmpty()) {
      return nothingHas(what);
    }
    int width = limits.width(layer.getAsInt(), kind).orElseThrow();
    String name = network.layer(layer.getAsInt()).name();
    return new ScalingLimit("scaling", width, name + " has " + width + " " + what);
  }

  private static ScalingLimit nothingHas(String what) {
    return new ScalingLimit("shape", 0, "no layer that may be split has " + what);
  }

  /** Of the layers that Table 3 divides. */
  private ScalingLimit narrowestOfAll(boolean channels, String what) {
    int least = Integer.MAX_VALUE;
    String where = "";
    boolean first = channels; // channels are split from the second product on
    for (int layer = 0; layer < network.size(); layer++) {
      Geometry l = network.layer(layer);
      if (splitsWhole(l, layer)) {
        return new ScalingLimit("shape", 0, "the " + what + " of " + l.name() + " are not known");
      }
      if (!l.kind().product()) {
        continue;
      }
      int width = channels ? l.channels() : l.filters();
      if (!first && network.mayBeSplit(layer) && width < least) {
        least = width;
        where = l.name();
      }
      first = false;
    }
    return where.isEmpty()
        ? nothingHas(what)
        : new ScalingLimit("scaling", least, where + " has " + least + " " + what);
  }

  /** As printed, the formulas split all weights: also those of layers that cannot be split. */
  private boolean splitsWhole(Geometry layer, int number) {
    return layer.kind() == Geometry.Kind.WHOLE
        && layer.weights() + layer.biases() > 0
        && network.mayBeSplit(number);
  }

  private ScalingLimit blocks(Function<BlockShape, OptionalInt> limit, String what) {
    return least(
        layer -> BlockShape.of(layer).map(limit).orElse(OptionalInt.empty()),
        what,
        "the network has no transformer block");
  }

  /** Each part of a group has an expert and a token. */
  private ScalingLimit experts() {
    ScalingLimit experts =
        least(
            layer -> ParallelismLimits.experts(layer.operator()),
            "experts",
            "the network has no mixture of experts");
    ScalingLimit tokens = blocks(block -> OptionalInt.of(block.sequence()), "tokens");
    return tokens.devices() < experts.devices() ? tokens : experts;
  }

  /** The layer that can be divided in the fewest parts. */
  private ScalingLimit least(Function<Layer, OptionalInt> parts, String what, String none) {
    if (setting.formulas() == Formulas.PUBLISHED) {
      String kind =
          switch (what) {
            case "tokens" -> "context";
            case "experts" -> "expert";
            default -> "tensor";
          };
      return new ScalingLimit(
          "shape",
          0,
          "ParaDL's Table 3 has no %s parallelism of transformer blocks".formatted(kind));
    }
    int least = Integer.MAX_VALUE;
    String where = "";
    for (int layer = 0; layer < network.size(); layer++) {
      OptionalInt own = parts.apply(network.graph().layer(layer));
      if (own.isPresent() && own.getAsInt() < least) {
        least = own.getAsInt();
        where = network.layer(layer).name();
      }
    }
    return where.isEmpty()
        ? new ScalingLimit("shape", 0, none)
        : new ScalingLimit("scaling", least, where + " has " + least + " " + what);
  }

  private ScalingLimit layers() {
    int most = network.shapes().mostStages();
    return new ScalingLimit("scaling", most, "the network can be cut into " + most + " stages");
  }

  private ScalingLimit positions() {
    return setting.formulas() == Formulas.PUBLISHED ? smallestMap() : firstMap();
  }

  /** Every layer that is split needs a position for each device. */
  private ScalingLimit smallestMap() {
    long least = Long.MAX_VALUE;
    String where = "";
    for (int layer = 0; layer < network.size(); layer++) {
      Geometry l = network.layer(layer);
      if (network.mayBeSplit(layer) && l.hasPositions() && elements(l.in()) < least) {
        least = elements(l.in());
        where = l.name();
      }
    }
    return where.isEmpty() ? noPositions() : limit(where, least);
  }

  /** Later layers may be gathered; the first one has to be split. */
  private ScalingLimit firstMap() {
    for (int layer : network.graph().topological()) {
      Geometry l = network.layer(layer);
      if (l.hasPositions() && l.kind() != Geometry.Kind.INPUT && network.mayBeSplit(layer)) {
        return limit(l.name(), elements(l.out()));
      }
    }
    return noPositions();
  }

  private static ScalingLimit limit(String layer, long positions) {
    return new ScalingLimit(
        "scaling",
        (int) Math.min(Integer.MAX_VALUE, positions),
        layer + " has " + positions + " positions");
  }

  private static ScalingLimit noPositions() {
    return new ScalingLimit("shape", 0, "the network has no layer whose positions are known");
  }

  private static long elements(List<Integer> extents) {
    return extents.stream().mapToLong(Integer::longValue).reduce(1, Math::multiplyExact);
  }

  /**
   * The grids of {@code parts} that the network's first layers can be cut by, longest parts along
   * the last axes first.
   */
  List<List<Integer>> grids(int parts) {
    int axes = axes();
    List<List<Integer>> grids = new ArrayList<>();
    if (axes > 0) {
      factor(parts, axes, new ArrayList<>(), grids);
    }
    return grids.stream().filter(this::possible).toList();
  }

  private int axes() {
    for (int layer = 0; layer < network.size(); layer++) {
      if (network.layer(layer).hasPositions()) {
        return network.layer(layer).in().size();
      }
    }
    return 0;
  }

  private static void factor(int parts, int axes, List<Integer> chosen, List<List<Integer>> grids) {
    if (axes == 1) {
      List<Integer> grid = new ArrayList<>(chosen);
      grid.add(parts);
      grids.add(grid);
      return;
    }
    for (int along = 1; along <= parts; along++) {
      if (parts % along == 0) {
        chosen.add(along);
        factor(parts / along, axes - 1, chosen, grids);
        chosen.removeLast();
      }
    }
  }

  private boolean possible(List<Integer> grid) {
    return setting.formulas() == Formulas.PUBLISHED
        ? cutsEveryMap(grid)
        : new ParallelismLimits(network.graph())
            .refusal(new Parallelism(Parallelism.Kind.SPATIAL, grid))
            .isEmpty();
  }

  /** Table 3: no factor exceeds its own extent in any layer. */
  private boolean cutsEveryMap(List<Integer> grid) {
    for (int layer = 0; layer < network.size(); layer++) {
      Geometry l = network.layer(layer);
      for (int axis = 0; axis < grid.size() && network.mayBeSplit(layer); axis++) {
        if (l.hasPositions()
            && (l.in().size() != grid.size() || l.in().get(axis) < grid.get(axis))) {
          return false;
        }
      }
    }
    return true;
  }

  /** The grid that exchanges least, where there is one. */
  Optional<List<Integer>> firstGrid(int parts) {
    return grids(parts).stream().findFirst();
  }
}
