package dev.pipewright.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A Python of this machine that runs scripts of the test resources.
 *
 * @param command that starts it
 */
public record Python(String command) {
  /** Any; the test is skipped where there is none. */
  public static Python plain() {
    return having("sys");
  }

  /** One that has PyTorch; the test is skipped where there is none. */
  public static Python withTorch() {
    return having("torch");
  }

  private static Python having(String module) {
    String asked = "import importlib.util as u, sys; sys.exit(not u.find_spec('" + module + "'))";
    Optional<String> found =
        Stream.of("python3", "/usr/bin/python3", "python")
            .filter(command -> ends(new ProcessBuilder(command, "-c", asked)))
            .findFirst();
    assumeTrue(found.isPresent(), "no Python with " + module);
    return new Python(found.orElseThrow());
  }

  private static boolean ends(ProcessBuilder builder) {
    try {
      return builder.start().waitFor() == 0;
    } catch (IOException e) {
      return false; // there is no such program
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** What a script of the test resources prints, line by line. */
  public List<String> run(Path folder, String script, String... arguments) throws IOException {
    return run(folder, Path.of("src/test/resources", script), arguments);
  }

  /** What a script prints, line by line; it must end well within two minutes. */
  public List<String> run(Path folder, Path script, String... arguments) throws IOException {
    List<String> line = new ArrayList<>(List.of(command, script.toAbsolutePath().toString()));
    line.addAll(List.of(arguments));
    Ended ended = run(folder, line);
    assertEquals(0, ended.status(), ended.err());
    return ended.out().lines().toList();
  }

  /** How a program ended, and what it printed. */
  public record Ended(int status, String out, String err) {}

  /** Runs a program, which must end within two minutes, on one thread. */
  public static Ended run(Path folder, List<String> line) throws IOException {
    Path out = folder.resolve("python.out");
    Path err = folder.resolve("python.err");
    ProcessBuilder builder =
        new ProcessBuilder(line)
            .directory(folder.toFile())
            .redirectOutput(out.toFile())
            .redirectError(err.toFile());
    builder.environment().put("OMP_NUM_THREADS", "1");
    builder.environment().put("OPENBLAS_NUM_THREADS", "1");
    Process process = builder.start();
    try {
      assertTrue(process.waitFor(120, TimeUnit.SECONDS), "it does not end");
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    } finally {
      process.destroyForcibly();
    }
    return new Ended(process.exitValue(), Files.readString(out), Files.readString(err));
  }
}
