package dev.pipewright.execution;

/** Something that trains networks; found through {@link java.util.ServiceLoader}. */
public interface TrainingService {
  /**
   * Trains and returns when all steps are done or the listener wants no more.
   *
   * @throws IllegalArgumentException with a sentence for the user where the request makes no sense
   * @throws TrainingFailureException where training has begun and a worker has failed
   */
  TrainingOutcome train(TrainingRequest request, TrainingListener listener);
}
