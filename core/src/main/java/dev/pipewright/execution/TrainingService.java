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

  /**
   * Tells ranks of a launcher, which try until this one listens, that there is nothing to join.
   *
   * @param why a sentence for their users
   */
  void refuse(TrainingRequest.Machines machines, String why);
}
