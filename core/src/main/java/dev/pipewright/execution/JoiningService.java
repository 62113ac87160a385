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
   * @param slots how many workers this machine takes at most
   * @param logs the folder for what they print; without one it is gone when the run ends
   * @return why the run has ended where it failed
   * @throws IllegalArgumentException with a sentence for the user where nobody waits there, or the
   *     token is wrong
   */
  Optional<String> join(String host, int port, String token, int slots, Optional<String> logs);
}
