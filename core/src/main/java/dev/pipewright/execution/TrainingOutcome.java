package dev.pipewright.execution;

import java.util.List;

/**
 * What a training run has shown.
 *
 * @param steps all of them, in order
 * @param typical the step whose duration is the median of those behind the warm-up
 * @param workers in their order
 */
public record TrainingOutcome(List<StepResult> steps, RecordedStep typical, List<Worker> workers) {
  /**
   * A worker over the whole run.
   *
   * @param peakBytes the most memory it held for tensors
   * @param bytesBefore what its process held before it made any
   */
  public record Worker(int worker, int rank, long peakBytes, long bytesBefore) {}

  public TrainingOutcome {
    steps = List.copyOf(steps);
    workers = List.copyOf(workers);
  }
}
