package dev.pipewright.planner.pipedream;

import dev.pipewright.planner.Planning.LowerBound;
import java.util.List;
import java.util.Optional;

/**
 * A plan of PipeDream-2BW and why to believe it.
 *
 * @param candidates the best of each width, depth, micro-batch and recomputation that fits, fastest
 *     first
 * @param leastPeakBytes of all that was tried, fitting or not: the memory that would do
 * @param singleDeviceSeconds one device doing the whole batch at its best micro-batch
 * @param exact whether nothing was left out of the search
 */
public record PipeDream2bwPlanning(
    List<Candidate> candidates,
    double leastPeakBytes,
    double singleDeviceSeconds,
    LowerBound lowerBound,
    boolean exact) {
  public PipeDream2bwPlanning {
    candidates = List.copyOf(candidates);
  }

  /**
   * One configuration with its best cuts.
   *
   * @param width copies of the pipeline
   * @param microBatch samples of a micro-batch of one copy
   * @param microBatches of one copy for each update, as many as stages or more
   * @param recompute whether stages keep only their input for each micro-batch in flight
   * @param seconds of an update in the steady state: {@code microBatches} times the slowest stage
   * @param binding what the slowest stage spends it on, in words with numbers
   */
  public record Candidate(
      int width,
      int microBatch,
      int microBatches,
      boolean recompute,
      double seconds,
      List<Stage> stages,
      String binding) {
    public Candidate {
      stages = List.copyOf(stages);
    }

    /** Stages of the pipeline. */
    public int depth() {
      return stages.size();
    }

    /** Of the device that holds most. */
    public double peakBytes() {
      return stages.stream().mapToDouble(Stage::memoryBytes).max().orElse(0);
    }
  }

  /**
   * A stage of each copy of the pipeline.
   *
   * @param firstLayer its first position in the chain
   * @param lastLayer its last position, inclusive
   * @param devices one for each copy
   * @param computeSeconds of a micro-batch, recomputation included
   * @param transferSeconds of a micro-batch: its input and the gradient of its output, which come
   *     in
   * @param exchangeSeconds of an update: summing gradients over the copies
   * @param inFlight micro-batches that it holds
   */
  public record Stage(
      int firstLayer,
      int lastLayer,
      List<Integer> devices,
      double computeSeconds,
      double transferSeconds,
      double exchangeSeconds,
      double memoryBytes,
      int inFlight) {
    public Stage {
      devices = List.copyOf(devices);
    }
  }

  /** The fastest; empty when nothing fits. */
  public Optional<Candidate> best() {
    return candidates.stream().findFirst();
  }

  /** The second fastest, where there is one. */
  public Optional<Candidate> runnerUp() {
    return candidates.stream().skip(1).findFirst();
  }
}
