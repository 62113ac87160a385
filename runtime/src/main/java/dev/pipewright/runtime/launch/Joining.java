package dev.pipewright.runtime.launch;

import dev.pipewright.execution.JoinRequest;
import dev.pipewright.execution.JoiningService;
import java.util.Optional;

/** The service that {@code join} and the ranks of a launcher call. */
public final class Joining implements JoiningService {
  @Override
  public Optional<String> join(JoinRequest request) {
    return JoinedHost.run(request);
  }
}
