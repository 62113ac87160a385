package dev.pipewright.predict.paradl;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.Workload;
import dev.pipewright.predict.paradl.Prediction.Impossible;
import dev.pipewright.predict.paradl.Prediction.Predicted;
import dev.pipewright.predict.paradl.Setting.Formulas;
import dev.pipewright.predict.paradl.Strategy.Split;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Seconds, bytes and limits of a network trained with a strategy.
 *
 * <p>Not safe for use by several threads. A question costs O(layers · layouts tried), plus
 * O(devices · levels) for who talks to whom.
 */
public final class ParadlOracle {
  private static final int SEGMENTS_PER_STAGE = 4;

  /** Samples of a micro-batch, beyond which nobody trains. */
  private static final int MOST_SAMPLES = 1 << 20;

  private final Setting setting;
  private final ParadlNetwork network;
  private final StrategyLimits limits;
  private final StrategyFormulas formulas;

  public ParadlOracle(Setting setting) {
    this(setting, new ParadlNetwork(setting.workload(), setting.splitLayers()));
  }

  private ParadlOracle(Setting setting, ParadlNetwork network) {
    this.setting = setting;
    this.network = network;
    this.limits = new StrategyLimits(network, setting);
    this.formulas =
        setting.formulas() == Formulas.PUBLISHED
            ? new PublishedFormulas(network, setting)
            : new CorrectedFormulas(network, setting);
  }

  /** The same questions about the same network on another machine, or with other times. */
  ParadlOracle on(Workload other) {
    return new ParadlOracle(setting.on(other), network.on(other));
  }

  /**
   * What {@code strategy} takes on the first {@code devices} devices of the cluster.
   *
   * @param globalBatch samples of one iteration over all devices
   */
  public Prediction predict(Strategy strategy, int devices, long globalBatch) {
    Cluster cluster = setting.workload().cluster();
    Check.that(
        1 <= devices && devices <= cluster.size(),
        "devices must be in 1..size of the cluster: devices=%d, size=%d",
        devices,
        cluster.size());
    Check.that(globalBatch >= 1, "a batch has samples: batch=%d", globalBatch);
    List<ScalingLimit> ends = List.of(limits.devices(strategy, globalBatch));
    if (devices > ends.get(0).devices()) {
      return new Impossible(strategy, devices, globalBatch, ends, tooMany(ends.get(0), devices));
    }
    List<Layout> layouts = layouts(strategy, devices, globalBatch);
    if (layouts.isEmpty()) {
      String why = unequal(strategy, devices, globalBatch);
      return new Impossible(strategy, devices, globalBatch, ends, why);
    }
    Layout best = fastest(layouts, globalBatch);
    return predicted(best, globalBatch, formulas.estimate(best, globalBatch), ends);
  }

  private Layout fastest(List<Layout> layouts, long globalBatch) {
    Layout best = layouts.get(0);
    double least = Double.POSITIVE_INFINITY;
    for (Layout layout : layouts.size() == 1 ? List.<Layout>of() : layouts) {
      double seconds = formulas.phases(layout, globalBatch).total();
      if (seconds < least) {
        least = seconds;
        best = layout;
      }
    }
    return best;
  }

  private static String tooMany(ScalingLimit limit, int devices) {
    return limit.devices() == 0
        ? limit.why()
        : devices + " devices are more than " + limit.devices() + ": " + limit.why();
  }

  private Predicted predicted(
      Layout layout, long batch, Estimate estimate, List<ScalingLimit> ends) {
    double capacity = Double.POSITIVE_INFINITY;
    Cluster cluster = setting.workload().cluster();
    for (int device = 0; device < layout.devices(); device++) {
      capacity = Math.min(capacity, (double) cluster.device(device).memory().value());
    }
    Predicted bare =
        new Predicted(
            layout,
            batch,
            setting.samplesPerEpoch(),
            estimate.phases(),
            estimate.memory(),
            capacity,
            ends,
            List.of());
    return new Predicted(
        layout,
        batch,
        setting.samplesPerEpoch(),
        estimate.phases(),
        estimate.memory(),
        capacity,
        ends,
        Findings.of(bare, estimate));
  }

  /** Why no layout cuts the work equally. */
  private String unequal(Strategy strategy, int devices, long batch) {
    if (strategy.hybrid() && setting.groupSize().isPresent()) {
      int size = setting.groupSize().getAsInt();
      if (devices % size != 0) {
        return "groups of " + size + " do not divide " + devices + " devices";
      }
      ScalingLimit parts = limits.parts(strategy);
      if (size > parts.devices()) {
        return "groups of " + size + " are more than " + parts.devices() + ": " + parts.why();
      }
    }
    if (strategy.split() == Split.LAYERS && setting.segments().isPresent()) {
      int segments = setting.segments().getAsInt();
      return segments
          + " segments do not divide the samples of a pipeline, of "
          + batch
          + " in all";
    }
    return "no way to cut " + batch + " samples and the network into " + devices + " equal shares";
  }

  /** The ways to arrange so many devices that the formulas are asked about. */
  private List<Layout> layouts(Strategy strategy, int devices, long batch) {
    if (strategy.split() == Split.NOTHING) {
      return List.of(Layout.of(strategy, devices, 1));
    }
    List<Layout> layouts = new ArrayList<>();
    for (int parts : parts(strategy, devices)) {
      int groups = devices / parts;
      if (groups > batch) {
        continue;
      }
      switch (strategy.split()) {
        case POSITIONS -> {
          for (List<Integer> grid : limits.grids(parts)) {
            layouts.add(new Layout(strategy, groups, parts, grid, 1));
          }
        }
        case LAYERS ->
            segments(batch, groups, parts)
                .ifPresent(s -> layouts.add(new Layout(strategy, groups, parts, List.of(), s)));
        default -> layouts.add(Layout.of(strategy, groups, parts));
      }
    }
    return layouts;
  }

  /** Devices of a group: all, or what the user says, or as many of a node as divide them. */
  private List<Integer> parts(Strategy strategy, int devices) {
    if (!strategy.hybrid()) {
      return List.of(devices);
    }
    int most = limits.parts(strategy).devices();
    if (setting.groupSize().isPresent()) {
      int size = setting.groupSize().getAsInt();
      return devices % size == 0 && size <= most ? List.of(size) : List.of();
    }
    int node = setting.workload().cluster().groups().get(0).get(0);
    for (int size = Math.min(Math.min(node, most), devices); size >= 1; size--) {
      boolean insideNodes = devices <= node || node % size == 0;
      if (devices % size == 0 && insideNodes) {
        return List.of(size);
      }
    }
    return List.of();
  }

  /** Equal segments, the most up to four for each stage. */
  private Optional<Integer> segments(long batch, int groups, int stages) {
    if (batch % groups != 0) {
      return Optional.empty();
    }
    long samples = batch / groups;
    if (setting.segments().isPresent()) {
      int given = setting.segments().getAsInt();
      boolean equal = samples % given == 0 && samples / given <= MOST_SAMPLES;
      return equal ? Optional.of(given) : Optional.empty();
    }
    long segments = Math.min(samples, (long) SEGMENTS_PER_STAGE * stages);
    while (samples % segments != 0) {
      segments--;
    }
    return samples / segments <= MOST_SAMPLES ? Optional.of((int) segments) : Optional.empty();
  }
}
