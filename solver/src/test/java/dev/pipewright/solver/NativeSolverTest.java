package dev.pipewright.solver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NativeSolverTest {
  @TempDir Path temporary;

  /** Loads it and ends as after an interrupt, when nothing is removed any more. */
  static final class Ends {
    public static void main(String[] unused) {
      Search.load();
      Runtime.getRuntime().halt(7);
    }
  }

  @Test
  void leavesNoTemporaryFilesHoweverTheProcessEnds() throws Exception {
    assumeTrue(Files.exists(Path.of("/proc/self/maps")));
    int status =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Djava.io.tmpdir=" + temporary,
                "-cp",
                System.getProperty("java.class.path"),
                Ends.class.getName())
            .inheritIO()
            .start()
            .waitFor();
    assertEquals(7, status);
    try (Stream<Path> left = Files.list(temporary)) {
      assertEquals(List.of(), left.toList());
    }
  }
}
