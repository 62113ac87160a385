package dev.pipewright.predict.paradl;

import dev.pipewright.cost.Workload;
import dev.pipewright.predict.paradl.Prediction.Predicted;
import dev.pipewright.predict.paradl.Study.Crossover;
import dev.pipewright.predict.paradl.Study.Resource;
import dev.pipewright.predict.paradl.Study.Sensitivity;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Asks the oracle about several strategies and device counts and says which to choose. */
public final class Studies {
  private Studies() {}

  /**
   * Predictions, crossovers and sensitivities.
   *
   * @param devices ascending
   */
  public static Study of(
      Setting setting, List<Strategy> strategies, List<Integer> devices, BatchScaling batch) {
    ParadlOracle oracle = new ParadlOracle(setting);
    List<Prediction> predictions = new ArrayList<>();
    for (Strategy strategy : strategies) {
      for (int count : devices) {
        predictions.add(oracle.predict(strategy, count, batch.on(count)));
      }
    }
    Study bare = new Study(strategies, devices, predictions, List.of(), List.of());
    return new Study(
        strategies,
        devices,
        predictions,
        crossovers(bare),
        sensitivities(bare, setting.workload(), oracle, batch),
        oneDevice(oracle.predict(Strategy.SERIAL, 1, batch.on(1))));
  }

  private static Optional<Predicted> oneDevice(Prediction prediction) {
    return prediction instanceof Predicted predicted && predicted.fits()
        ? Optional.of(predicted)
        : Optional.empty();
  }

  private static List<Crossover> crossovers(Study study) {
    List<Crossover> crossovers = new ArrayList<>();
    Optional<Strategy> before = Optional.empty();
    for (int devices : study.devices()) {
      Optional<Predicted> best = study.choice(devices);
      Optional<Strategy> after = best.map(Predicted::strategy);
      if (best.isPresent() && !before.equals(after)) {
        double gain = gain(study, best.get(), before);
        crossovers.add(new Crossover(devices, before, best.get().strategy(), gain));
      }
      before = after;
    }
    return crossovers;
  }

  /** How many times as fast as the former choice, 1 where that is none here. */
  private static double gain(Study study, Predicted best, Optional<Strategy> former) {
    return study.ranking(best.devices()).stream()
        .filter(p -> former.isPresent() && p.strategy() == former.get())
        .mapToDouble(p -> best.samplesPerSecond() / p.samplesPerSecond())
        .findFirst()
        .orElse(1);
  }

  private static List<Sensitivity> sensitivities(
      Study study, Workload workload, ParadlOracle oracle, BatchScaling batch) {
    int devices = study.devices().get(study.devices().size() - 1);
    Optional<Strategy> usual = study.choice(devices).map(Predicted::strategy);
    List<Sensitivity> sensitivities = new ArrayList<>();
    for (Resource resource : Resource.values()) {
      for (double factor : new double[] {0.5, 2}) {
        Optional<Predicted> best =
            resource == Resource.MEMORY
                ? withMemory(study, devices, factor)
                : on(
                    oracle.on(OtherMachine.with(workload, resource, factor)),
                    study.strategies(),
                    devices,
                    batch);
        Optional<Strategy> choice = best.map(Predicted::strategy);
        double rate = best.map(Predicted::samplesPerSecond).orElse(0.0);
        sensitivities.add(new Sensitivity(resource, factor, choice, rate, !choice.equals(usual)));
      }
    }
    return sensitivities;
  }

  /** The choice where devices have {@code factor} times as much memory, which changes no times. */
  private static Optional<Predicted> withMemory(Study study, int devices, double factor) {
    return choice(study.predictions().stream().filter(p -> p.devices() == devices), factor);
  }

  private static Optional<Predicted> on(
      ParadlOracle elsewhere, List<Strategy> strategies, int devices, BatchScaling batch) {
    return choice(
        strategies.stream().map(s -> elsewhere.predict(s, devices, batch.on(devices))), 1);
  }

  private static Optional<Predicted> choice(Stream<Prediction> predictions, double memory) {
    return Study.simplest(
        predictions
            .filter(Predicted.class::isInstance)
            .map(Predicted.class::cast)
            .filter(p -> p.memory().total() <= p.capacity() * memory)
            .sorted(Comparator.comparingDouble(Predicted::samplesPerSecond).reversed())
            .toList());
  }
}
