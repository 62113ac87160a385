package dev.pipewright.app.cli.host;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** A machine with these programs, which print this, and these files. */
public record MadeHost(String jarPath, Map<String, String> programs, Set<String> files)
    implements Host {
  @Override
  public Optional<String> run(List<String> command) {
    return Optional.ofNullable(programs.get(command.get(0)));
  }

  @Override
  public int processors() {
    return 64;
  }

  @Override
  public long memory() {
    return 1L << 40;
  }

  @Override
  public Java java() {
    return new Java(21, "21.0.1+12 of Debian", Path.of("/jdk"));
  }

  @Override
  public Optional<Path> jar() {
    return Optional.of(Path.of(jarPath));
  }

  @Override
  public boolean exists(Path file) {
    return files.contains(file.toString());
  }
}
