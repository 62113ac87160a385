package dev.pipewright.predict.paradl;

import dev.pipewright.predict.paradl.Prediction.Predicted;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Several strategies over several numbers of devices, and which to choose.
 *
 * @param predictions one for each strategy and number of devices, in that order
 * @param crossovers where the choice changes as devices grow
 * @param sensitivities what the choice at the most devices would be on other machines
 * @param oneDevice all of the network on one device, whatever was asked for; empty where that is
 *     impossible or does not fit
 */
public record Study(
    List<Strategy> strategies,
    List<Integer> devices,
    List<Prediction> predictions,
    List<Crossover> crossovers,
    List<Sensitivity> sensitivities,
    Optional<Predicted> oneDevice) {
  /** In what the figures of strategies differ from those of plans, in a sentence. */
  public static final String ASSUMED =
      "By the corrected formulas strategies are plans, with stages balanced by time and gradients"
          + " summed by the algorithm of --all-reduce while the backward pass runs, and"
          + " their iteration is the plan's estimate; `plan` simulates it, too.";

  /** Speeds closer than this are no reason to choose by. */
  private static final double CLOSE = 1.01;

  public Study {
    strategies = List.copyOf(strategies);
    devices = List.copyOf(devices);
    predictions = List.copyOf(predictions);
    crossovers = List.copyOf(crossovers);
    sensitivities = List.copyOf(sensitivities);
  }

  /** Nothing is known of one device. */
  public Study(
      List<Strategy> strategies,
      List<Integer> devices,
      List<Prediction> predictions,
      List<Crossover> crossovers,
      List<Sensitivity> sensitivities) {
    this(strategies, devices, predictions, crossovers, sensitivities, Optional.empty());
  }

  /**
   * The best strategy from this number of devices on (up to the next crossover).
   *
   * @param before the best on the number of devices before, empty where none fitted
   * @param gain how many times more samples per second it trains than {@code before} does here; 1
   *     where the one before is no choice any more
   */
  public record Crossover(int devices, Optional<Strategy> before, Strategy after, double gain) {}

  /** What a machine has more or less of. */
  public enum Resource {
    BANDWIDTH("network bandwidth"),
    LATENCY("network latency"),
    MEMORY("device memory"),
    COMPUTE("compute rate");

    private final String label;

    Resource(String label) {
      this.label = label;
    }

    public String label() {
      return label;
    }
  }

  /**
   * The best strategy where one resource is {@code factor} times as large.
   *
   * @param choice empty where nothing fits
   * @param samplesPerSecond of that choice
   * @param changes whether it differs from the choice on the machine as it is
   */
  public record Sensitivity(
      Resource resource,
      double factor,
      Optional<Strategy> choice,
      double samplesPerSecond,
      boolean changes) {}

  /** The prediction of one strategy on one number of devices. */
  public Optional<Prediction> at(Strategy strategy, int devices) {
    return predictions.stream()
        .filter(p -> p.strategy() == strategy && p.devices() == devices)
        .findFirst();
  }

  /**
   * What to do: the choice on the most devices on which something fits, but one device where that
   * trains no slower; empty where nothing fits.
   */
  public Optional<Predicted> recommended() {
    Optional<Predicted> most =
        devices.stream()
            .sorted(Comparator.reverseOrder())
            .flatMap(count -> choice(count).stream())
            .findFirst();
    return most.filter(best ->
            oneDevice.isEmpty() || best.samplesPerSecond() > oneDevice.get().samplesPerSecond())
        .or(() -> most.flatMap(best -> oneDevice));
  }

  /**
   * What to choose on so many devices: of all that fit and train within {@link #CLOSE} as fast as
   * the fastest, the simplest, which is the one that {@link Strategy} lists first.
   */
  public Optional<Predicted> choice(int devices) {
    return simplest(ranking(devices));
  }

  /** The simplest of the fastest, where {@code ranking} starts with the fastest. */
  static Optional<Predicted> simplest(List<Predicted> ranking) {
    return ranking.stream()
        .filter(p -> p.samplesPerSecond() * CLOSE >= ranking.get(0).samplesPerSecond())
        .min(Comparator.comparing(Predicted::strategy));
  }

  /** What fits on so many devices, most samples per second first. */
  public List<Predicted> ranking(int devices) {
    return predictions.stream()
        .filter(Predicted.class::isInstance)
        .map(Predicted.class::cast)
        .filter(p -> p.devices() == devices && p.fits())
        .sorted(Comparator.comparingDouble(Predicted::samplesPerSecond).reversed())
        .toList();
  }
}
