package dev.pipewright.planner.memory;

import dev.pipewright.planner.Planning.LowerBound;
import dev.pipewright.units.Units;
import java.util.Arrays;
import java.util.Optional;

/**
 * A chain of layers cut into one stage for each device, and how little its fullest device holds.
 *
 * @param planner who cut it
 * @param sizes layers of each stage
 * @param bytes what the predictor says of each stage
 * @param lowerBound bytes: no partition has a smaller peak
 * @param considered partitions, or parts of them, that were looked at
 */
public record Balance(
    String planner,
    int[] sizes,
    double[] bytes,
    LowerBound lowerBound,
    Optional<RunnerUp> runnerUp,
    long considered) {
  /**
   * The best partition without the stage that binds.
   *
   * @param gap how much more its fullest device holds, as a share of the best
   */
  public record RunnerUp(int[] sizes, double peakBytes, double gap) {}

  /** What the fullest device holds. */
  public double peakBytes() {
    return Arrays.stream(bytes).max().orElse(0);
  }

  /** How far above the lower bound the peak is, as a share of the bound; 0 for an optimum. */
  public double gap() {
    return lowerBound.gap(peakBytes());
  }

  /** The first of the fullest stages. */
  public int fullest() {
    int fullest = 0;
    for (int stage = 1; stage < bytes.length; stage++) {
      fullest = bytes[stage] > bytes[fullest] ? stage : fullest;
    }
    return fullest;
  }

  /** The first layer of a stage. */
  public int first(int stage) {
    return Arrays.stream(sizes, 0, stage).sum();
  }

  /** What keeps the peak from being smaller, in words with numbers. */
  public String binding() {
    int stage = fullest();
    int first = first(stage);
    double mean = Arrays.stream(bytes).average().orElse(0);
    String layers =
        sizes[stage] == 1
            ? "layer " + first + " alone"
            : "layers " + first + " to " + (first + sizes[stage] - 1);
    return "memory: stage "
        + stage
        + " ("
        + layers
        + ") holds "
        + Units.binary(peakBytes(), "B")
        + "; the mean of all stages is "
        + Units.percent(peakBytes() > 0 ? mean / peakBytes() : 1)
        + " of that"
        + (sizes[stage] == 1 ? "; one layer is not cut any smaller" : "");
  }

  @Override
  public String toString() {
    return Arrays.toString(sizes) + " with a peak of " + Units.binary(peakBytes(), "B");
  }
}
