package dev.pipewright.predict.paradl;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.Workload;
import dev.pipewright.predict.paradl.Prediction.Impossible;
import dev.pipewright.predict.paradl.Prediction.Predicted;
import dev.pipewright.predict.paradl.Setting.Formulas;
import dev.pipewright.units.Check;
import java.util.List;

/**
 * Seconds, bytes and limits of a network trained with a strategy.
 *
 * <p>Not safe for use by several threads. A question costs O(layers · layouts tried), plus
 * O(devices · levels) for who talks to whom.
 */
public final class ParadlOracle {
  private final Setting setting;
  private final ParadlNetwork network;
  private final StrategyLimits limits;
  private final Layouts layouts;
  private final StrategyFormulas formulas;

  public ParadlOracle(Setting setting) {
    this(setting, new ParadlNetwork(setting.priced(), setting.splitLayers()));
  }

  private ParadlOracle(Setting setting, ParadlNetwork network) {
    this.setting = setting;
    this.network = network;
    this.limits = new StrategyLimits(network, setting);
    this.layouts = new Layouts(setting, limits);
    this.formulas =
        setting.formulas() == Formulas.PUBLISHED
            ? new PublishedFormulas(network, setting)
            : new PlanEstimate(network, setting);
  }

  /** The same questions about the same network on another machine, or with other times. */
  ParadlOracle on(Workload other) {
    Setting there = setting.on(other);
    return new ParadlOracle(there, network.on(there.priced()));
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
    List<Layout> possible = layouts.of(strategy, devices, globalBatch);
    List<Layout> answered =
        possible.stream()
            .filter(layout -> formulas.refusal(layout, globalBatch).isEmpty())
            .toList();
    if (answered.isEmpty()) {
      String why =
          possible.stream()
              .flatMap(layout -> formulas.refusal(layout, globalBatch).stream())
              .findFirst()
              .orElseGet(() -> unequal(strategy, devices, globalBatch));
      return new Impossible(strategy, devices, globalBatch, ends, why);
    }
    Layout best =
        strategy.accumulates()
            ? fastestThatFits(answered, globalBatch)
            : fastest(answered, globalBatch);
    return predicted(best, globalBatch, formulas.estimate(best, globalBatch), ends);
  }

  private Layout fastest(List<Layout> possible, long globalBatch) {
    Layout best = possible.get(0);
    double least = Double.POSITIVE_INFINITY;
    for (Layout layout : possible.size() == 1 ? List.<Layout>of() : possible) {
      double seconds = formulas.phases(layout, globalBatch).total();
      if (seconds < least) {
        least = seconds;
        best = layout;
      }
    }
    return best;
  }

  /** The one that needs least memory where none fits. */
  private Layout fastestThatFits(List<Layout> possible, long globalBatch) {
    Layout best = possible.get(0);
    double least = Double.POSITIVE_INFINITY; // seconds, or bytes beyond the capacity
    boolean fits = false;
    for (Layout layout : possible.size() == 1 ? List.<Layout>of() : possible) {
      Estimate estimate = formulas.estimate(layout, globalBatch);
      double bytes = estimate.memory().total();
      boolean own = bytes <= capacity(layout.devices());
      double number = own ? estimate.phases().total() : bytes;
      if (own == fits ? number < least : own) {
        least = number;
        best = layout;
        fits = own;
      }
    }
    return best;
  }

  /** Bytes of the smallest of the first devices. */
  private double capacity(int devices) {
    double capacity = Double.POSITIVE_INFINITY;
    Cluster cluster = setting.workload().cluster();
    for (int device = 0; device < devices; device++) {
      capacity = Math.min(capacity, (double) cluster.device(device).memory().value());
    }
    return capacity;
  }

  private static String tooMany(ScalingLimit limit, int devices) {
    return limit.devices() == 0
        ? limit.why()
        : devices + " devices are more than " + limit.devices() + ": " + limit.why();
  }

  private Predicted predicted(
      Layout layout, long batch, Estimate estimate, List<ScalingLimit> ends) {
    double capacity = capacity(layout.devices());
    Predicted bare =
        new Predicted(
            layout,
            batch,
            setting.samplesPerEpoch(),
            estimate.phases(),
            estimate.memory(),
            capacity,
            ends,
            List.of(),
            estimate.plan());
    return new Predicted(
        layout,
        batch,
        setting.samplesPerEpoch(),
        estimate.phases(),
        estimate.memory(),
        capacity,
        ends,
        Findings.of(bare, estimate),
        estimate.plan());
  }

  /** Why no layout cuts the work equally. */
  private String unequal(Strategy strategy, int devices, long batch) {
    if (strategy.dividesBlocks() || !setting.degrees().equals(ParallelDegrees.OPEN)) {
      return "no degrees of tensor, pipeline and data parallelism within those asked for divide "
          + devices
          + " devices, and the batch of "
          + batch
          + " into equal micro-batches";
    }
    if (strategy.hybrid() && setting.groupSize().isPresent()) {
      int size = setting.groupSize().getAsInt();
      if (devices % size != 0) {
        return "groups of " + size + " do not divide " + devices + " devices";
      }
      ScalingLimit parts = strategy.pipelined() ? limits.stages(strategy) : limits.parts(strategy);
      if (size > parts.devices()) {
        return "groups of " + size + " are more than " + parts.devices() + ": " + parts.why();
      }
    }
    if (strategy.pipelined() && setting.segments().isPresent()) {
      int segments = setting.segments().getAsInt();
      return segments
          + " segments do not divide the samples of a pipeline, of "
          + batch
          + " in all";
    }
    return "no way to cut " + batch + " samples and the network into " + devices + " equal shares";
  }
}
