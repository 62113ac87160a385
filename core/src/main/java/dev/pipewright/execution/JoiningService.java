package dev.pipewright.execution;

import java.util.Optional;

/**
 * Something that has this machine work for a training run on another one; found through {@link
 * java.util.ServiceLoader}.
 */
public interface JoiningService {
  /**
   * Joins and returns when the run is over.
   *
   * @return why the run has ended where it failed
   * @throws IllegalArgumentException with a sentence for the user where no run waits there, or the
   *     token is wrong
   */
  Optional<String> join(JoinRequest request);
}
