package dev.pipewright.execution;

import java.util.function.Consumer;

/** Something that measures networks and links; found through {@link java.util.ServiceLoader}. */
public interface ProfilingService {
  /**
   * Measures and returns when everything is measured.
   *
   * @param progress hears what is being measured, in a few words
   * @throws IllegalArgumentException with a sentence for the user where the request makes no sense
   * @throws TrainingFailureException where measuring has begun and a worker has failed
   */
  ProfilingOutcome profile(ProfilingRequest request, Consumer<String> progress);
}
