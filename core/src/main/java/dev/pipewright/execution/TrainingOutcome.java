package dev.pipewright.execution;

import java.util.List;
import java.util.Optional;

/**
 * What a training run has shown.
 *
 * @param steps all of them, in order
 * @param typical the step whose duration is the median of those behind the warm-up
 * @param calm the one whose duration is their lower quartile: others on the machine only lengthen
 *     steps
 * @param workers in their order
 * @param heldOut how samples were answered that training has not seen, in order
 * @param checkpoint the last one that was written
 * @param stolen while it ran
 * @param stopped whether it has ended before its last step because the listener wanted that
 */
public record TrainingOutcome(
    List<StepResult> steps,
    RecordedStep typical,
    RecordedStep calm,
    List<Worker> workers,
    List<HeldOutResult> heldOut,
    Optional<String> checkpoint,
    StealTime stolen,
    boolean stopped) {
  /**
   * A worker.
   *
   * @param peakBytes the most memory that its tensors and what computes with them took up in a step
   */
  public record Worker(int worker, int rank, long peakBytes) {}

  /**
   * The sentence about a run that was interrupted.
   *
   * @param done steps that are done
   * @param all that were to be made
   * @param checkpoint the last one that was written
   */
  public static String interrupted(long done, long all, Optional<String> checkpoint) {
    return "interrupted after %d of %d steps; ".formatted(done, all)
        + checkpoint
            .map(folder -> "the last checkpoint is %s, go on with --resume".formatted(folder))
            .orElse("no checkpoint was written, as --out DIR --checkpoint-every N would have done");
  }

  /** The same with what another run has shown of its workers. */
  public TrainingOutcome with(List<Worker> others) {
    return new TrainingOutcome(steps, typical, calm, others, heldOut, checkpoint, stolen, stopped);
  }

  public TrainingOutcome {
    steps = List.copyOf(steps);
    workers = List.copyOf(workers);
    heldOut = List.copyOf(heldOut);
  }
}
