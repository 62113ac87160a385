package dev.pipewright.runtime.launch;

import dev.pipewright.execution.JoiningService;
import java.nio.file.Path;
import java.util.Optional;

/** The service that {@code join} calls. */
public final class Joining implements JoiningService {
  @Override
  public Optional<String> join(
      String host, int port, String token, int slots, Optional<String> logs) {
    return JoinedHost.run(host, port, token, slots, logs.map(Path::of));
  }
}
