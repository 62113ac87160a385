package dev.pipewright.app.report.study;

import dev.pipewright.predict.paradl.Bottleneck;
import dev.pipewright.predict.paradl.Finding;
import dev.pipewright.predict.paradl.Layout;
import dev.pipewright.predict.paradl.MemoryUse;
import dev.pipewright.predict.paradl.Phase;
import dev.pipewright.predict.paradl.Phases;
import dev.pipewright.predict.paradl.Prediction;
import dev.pipewright.predict.paradl.Prediction.Impossible;
import dev.pipewright.predict.paradl.Prediction.Predicted;
import dev.pipewright.predict.paradl.ScalingLimit;
import dev.pipewright.predict.paradl.Strategy;
import dev.pipewright.predict.paradl.Study;
import dev.pipewright.predict.paradl.Study.Crossover;
import dev.pipewright.predict.paradl.Study.Resource;
import dev.pipewright.predict.paradl.Study.Sensitivity;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;

/** Studies whose numbers are made up: plausible ones and extreme ones. */
final class Studies {
  static final double CAPACITY = 16.0 * (1L << 30);

  private Studies() {}

  static Asked asked(String title) {
    return new Asked(
        title,
        "vgg-16",
        "abci, 4 × 4 devices",
        "32 samples per device, 1,281,167 samples per epoch, corrected formulas",
        "roofline of V100-SXM2-16GB; links as measured by the authors of ParaDL");
  }

  /** Data, spatial and filter parallelism on 16, 64 and 256 devices, where filter ends at 64. */
  static Study small() {
    return study(
        List.of(Strategy.DATA, Strategy.DATA_SPATIAL, Strategy.FILTER), List.of(16, 64, 256));
  }

  /** All strategies on 1 to so many devices, doubling each time. */
  static Study large(int counts) {
    List<Integer> devices = new ArrayList<>();
    for (int i = 0; i < counts; i++) {
      devices.add(1 << i);
    }
    return study(List.of(Strategy.values()), devices);
  }

  static Study study(List<Strategy> strategies, List<Integer> devices) {
    List<Prediction> predictions = new ArrayList<>();
    for (Strategy strategy : strategies) {
      for (int count : devices) {
        predictions.add(prediction(strategy, count));
      }
    }
    return of(strategies, devices, predictions);
  }

  /** With the crossovers that the predictions have, and sensitivities made up. */
  static Study of(List<Strategy> strategies, List<Integer> devices, List<Prediction> predictions) {
    Study bare = new Study(strategies, devices, predictions, List.of(), List.of());
    List<Crossover> crossovers = new ArrayList<>();
    Optional<Strategy> before = Optional.empty();
    for (int count : devices) {
      List<Predicted> ranking = bare.ranking(count);
      if (!ranking.isEmpty() && !before.equals(Optional.of(ranking.getFirst().strategy()))) {
        Strategy after = ranking.getFirst().strategy();
        crossovers.add(new Crossover(count, before, after, ranking.size() > 1 ? 1.31 : 1));
        before = Optional.of(after);
      }
    }
    return new Study(strategies, devices, predictions, crossovers, sensitivities(bare));
  }

  private static List<Sensitivity> sensitivities(Study study) {
    Optional<Predicted> choice = StudyWords.choice(study);
    List<Sensitivity> sensitivities = new ArrayList<>();
    if (choice.isEmpty()) {
      return sensitivities;
    }
    double now = choice.get().samplesPerSecond();
    Optional<Strategy> same = Optional.of(choice.get().strategy());
    for (Resource resource : Resource.values()) {
      sensitivities.add(new Sensitivity(resource, 2, same, now * 1.2, false));
    }
    sensitivities.add(
        new Sensitivity(Resource.BANDWIDTH, 0.5, Optional.of(Strategy.PIPELINE), now * 0.8, true));
    sensitivities.add(new Sensitivity(Resource.LATENCY, 0.5, same, now * 1.01, false));
    sensitivities.add(new Sensitivity(Resource.MEMORY, 0.5, Optional.empty(), 0, true));
    sensitivities.add(new Sensitivity(Resource.COMPUTE, 0.5, same, now * 0.6, false));
    return sensitivities;
  }

  static Prediction prediction(Strategy strategy, int devices) {
    int most =
        switch (strategy) {
          case SERIAL -> 1;
          case FILTER, CHANNEL -> 64;
          case SPATIAL -> 128;
          case PIPELINE -> 16;
          default -> 4096;
        };
    ScalingLimit limit =
        new ScalingLimit("scaling", most, "the smallest layer has " + most + " parts to share out");
    return devices > most || (strategy.hybrid() && devices < 4)
        ? new Impossible(
            strategy,
            devices,
            32L * devices,
            List.of(limit),
            devices > most
                ? "no layer can be cut into more than " + most + " parts"
                : "groups of 4 need at least 4 devices")
        : predicted(strategy, devices, List.of(limit));
  }

  private static Predicted predicted(Strategy strategy, int devices, List<ScalingLimit> limits) {
    int parts =
        strategy.split() == Strategy.Split.NOTHING && !strategy.pipelined()
            ? 1
            : strategy.hybrid() ? 4 : devices;
    int groups = devices / parts;
    Layout layout =
        strategy.pipelined()
            ? Layout.pipeline(strategy, groups, parts, 8)
            : strategy.split() == Strategy.Split.POSITIONS
                ? Layout.spatial(strategy, groups, List.of(parts, 1))
                : Layout.of(strategy, groups, parts);
    long batch = 32L * Math.max(groups, 4);
    double work = 0.004 * batch / devices * (1 + 0.1 * place(strategy));
    return new Predicted(
        layout,
        batch,
        OptionalLong.of(1_281_167),
        phases(strategy, groups, parts, work),
        memory(strategy, groups, parts),
        CAPACITY,
        limits,
        findings(strategy),
        Optional.empty());
  }

  private static Phases phases(Strategy strategy, int groups, int parts, double work) {
    Phases phases =
        Phases.none()
            .with(Phase.FORWARD_BACKWARD, work)
            .with(Phase.WEIGHT_UPDATE, strategy.zeroStage() > 0 ? 0.004 / groups : 0.008);
    double ring = 1.0 - 1.0 / groups;
    phases =
        switch (strategy.split()) {
          case NOTHING ->
              strategy.zeroStage() == 3 ? phases.with(Phase.LAYER_ALL_GATHER, 0.05 * ring) : phases;
          case FILTERS, SEQUENCES, TOKENS ->
              phases
                  .with(Phase.LAYER_ALL_GATHER, 0.004 * parts)
                  .with(Phase.LAYER_ALL_REDUCE, 0.005 * parts);
          case CHANNELS, HEADS, EXPERTS ->
              phases
                  .with(Phase.LAYER_ALL_GATHER, 0.006 * parts)
                  .with(Phase.LAYER_ALL_REDUCE, 0.004 * parts);
          case POSITIONS -> phases.with(Phase.HALO, 0.012).with(Phase.GRADIENT_EXCHANGE, 0.04);
        };
    if (strategy.pipelined()) {
      phases = phases.with(Phase.WAITING, work * 0.6).with(Phase.POINT_TO_POINT, 0.006);
    }
    return groups > 1 ? phases.with(Phase.GRADIENT_EXCHANGE, 0.06 * ring) : phases;
  }

  private static MemoryUse memory(Strategy strategy, int groups, int parts) {
    double gib = 1L << 30;
    double shard = strategy.zeroStage() >= 1 ? groups : 1;
    double weights = 1.1 * gib / (strategy.zeroStage() == 3 ? groups : 1);
    return new MemoryUse(
        weights,
        1.1 * gib / (strategy.zeroStage() >= 2 ? groups : 1),
        4.4 * gib / shard,
        12 * gib / Math.sqrt(parts),
        0.3 * gib);
  }

  private static List<Finding> findings(Strategy strategy) {
    return List.of(
        new Finding(
            Bottleneck.GRADIENT_EXCHANGE,
            0.43,
            "the gradient exchange takes 43 % of the iteration: 528 MiB over links of 12.5 GB/s",
            "a larger batch per device, or a hybrid with "
                + strategy
                + " exchanges fewer gradients"),
        new Finding(
            Bottleneck.MEMORY_REDUNDANCY,
            0.35,
            "35 % of the memory is a copy that every device holds",
            "sharding the optimizer's state (zero1) or fewer replicas"));
  }

  /** Seconds from 1e-3 to 1e3, and memory from a thousandth to 20 times the capacity. */
  static Study extreme() {
    List<Strategy> strategies = List.of(Strategy.values());
    List<Integer> devices = List.of(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024);
    List<Prediction> predictions = new ArrayList<>();
    for (Strategy strategy : strategies) {
      for (int i = 0; i < devices.size(); i++) {
        double across = (place(strategy) * 7 % 13) / 12.0;
        double seconds = 1e-3 * Math.pow(10, 3 * across + 3 * (10 - i) / 10.0);
        double bytes = CAPACITY * 20 * Math.pow(10, -4.3 * (across + i / 10.0) / 2);
        predictions.add(
            strategy == Strategy.CHANNEL
                ? new Impossible(
                    strategy,
                    devices.get(i),
                    64,
                    List.of(),
                    "the model has <no> channels & \"none\"")
                : predicted(Layout.of(strategy, devices.get(i), 1), 4096, seconds, bytes));
      }
    }
    return of(strategies, devices, predictions);
  }

  /** Those that divide tokens or experts come last. */
  private static int place(Strategy strategy) {
    return Stream.of(Strategy.values())
        .sorted(Comparator.comparing(Studies::dividesTokens))
        .toList()
        .indexOf(strategy);
  }

  private static boolean dividesTokens(Strategy strategy) {
    return strategy.split() == Strategy.Split.TOKENS || strategy.split() == Strategy.Split.EXPERTS;
  }

  /** A prediction of so many seconds and bytes, spread over all phases and categories. */
  static Predicted predicted(Layout layout, long batch, double seconds, double bytes) {
    Phases phases = Phases.none();
    int weight = Phase.values().length;
    double shares = weight * (weight + 1) / 2.0;
    for (Phase phase : Phase.values()) {
      phases = phases.with(phase, seconds * weight-- / shares);
    }
    MemoryUse memory = new MemoryUse(0.2, 0.1, 0.3, 0.3, 0.1).times(bytes);
    return new Predicted(
        layout,
        batch,
        OptionalLong.of(1_281_167),
        phases,
        memory,
        CAPACITY,
        List.of(),
        findings(layout.strategy()),
        Optional.empty());
  }
}
