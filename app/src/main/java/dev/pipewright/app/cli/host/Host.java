package dev.pipewright.app.cli.host;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** What a machine can be asked; tests answer for machines that are not here. */
public interface Host {
  /** What a program prints on standard output; empty where it is missing, fails or hangs. */
  Optional<String> run(List<String> command);

  /** Processors that this process may use. */
  int processors();

  /** Bytes of memory; in a container those that it may use. */
  long memory();

  /** Version and home of the Java that runs this. */
  Java java();

  /** The jar that this program was started from. */
  Optional<Path> jar();

  /** Whether there is such a file. */
  boolean exists(Path file);

  /**
   * A Java.
   *
   * @param version of the language, like 25
   * @param name with its build and vendor
   */
  record Java(int version, String name, Path home) {}
}
