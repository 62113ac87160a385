package dev.pipewright.execution;

import java.util.List;
import java.util.Optional;

/**
 * What a training run has shown.
 *
 * @param steps all of them, in order
 * @param typical the step whose duration is the median of those behind the warm-up
 * @param workers in their order
 * @param heldOut how samples were answered that training has not seen, in order
 * @param checkpoint the last one that was written
 * @param stopped whether it has ended before its last step because the listener wanted that
 */
public record TrainingOutcome(
    List<StepResult> steps,
    RecordedStep typical,
    List<Worker> workers,
    List<HeldOutResult> heldOut,
    Optional<String> checkpoint,
    boolean stopped) {
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
    heldOut = List.copyOf(heldOut);
  }
}
