package dev.pipewright.runtime.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What becomes of workers when their coordinator ends. */
class OrphanTest {
  private static final String RUNNING = "1000000000";
  private static final String BLOCKED_IN_THE_LIBRARY = "1000000000 sleep 1 1";
  private static final String STOPPED = "1000000000 stop 1 1";

  private static final int SIGNALS = 128;
  private static final int TERM = 15;

  @TempDir Path folder;
  @TempDir Path temporary;
  private final List<ProcessHandle> workers = new ArrayList<>();

  @AfterEach
  void endWhatIsLeft() {
    workers.forEach(ProcessHandle::destroyForcibly);
  }

  private Process coordinator(String job) throws IOException {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Djava.io.tmpdir=" + temporary,
            "-cp",
            System.getProperty("java.class.path"),
            RingMain.class.getName(),
            job,
            folder.toString())
        .redirectErrorStream(true)
        .start();
  }

  /** Returns when both workers are at work, with all that was printed. */
  private List<String> untilBothRun(BufferedReader out) throws IOException {
    List<String> printed = new ArrayList<>();
    int steps = 0;
    while (steps < 2) {
      String line = String.valueOf(out.readLine());
      printed.add(line);
      if (line.startsWith("pid ")) {
        ProcessHandle.of(Long.parseLong(line.substring(4))).ifPresent(workers::add);
      }
      steps += line.startsWith("step 0") ? 1 : 0;
    }
    assertEquals(2, workers.size(), printed::toString);
    return printed;
  }

  private void untilAllHaveEnded() throws InterruptedException {
    while (workers.stream().anyMatch(OrphanTest::alive)) {
      Thread.sleep(10);
    }
  }

  /** A dead process whose parent is gone may wait a while for the system to forget it. */
  private static boolean alive(ProcessHandle process) {
    try {
      String status = Files.readString(Path.of("/proc/" + process.pid() + "/stat"));
      return !status.substring(status.lastIndexOf(')')).startsWith(") Z");
    } catch (IOException e) {
      return process.isAlive(); // and not on Linux, if it is
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {RUNNING, BLOCKED_IN_THE_LIBRARY})
  void workersEndWhenTheirCoordinatorIsKilled(String job) throws Exception {
    Process coordinator = coordinator(job);
    try (BufferedReader out = coordinator.inputReader()) {
      untilBothRun(out);
      coordinator.destroyForcibly();
      untilAllHaveEnded();
    }
    TemporaryFolder.in(temporary).close(); // as the next run does
    assertEquals(List.of(), leftBehind());
  }

  private List<Path> leftBehind() throws IOException {
    try (Stream<Path> files = Files.list(temporary)) {
      return files.toList();
    }
  }

  /** Whether this process was told to ignore a signal, as {@code nohup} does; children are, too. */
  private static boolean ignored(String signal) throws IOException {
    int bit = Map.of("HUP", 0, "INT", 1, "TERM", 14).getOrDefault(signal, 63);
    Path status = Path.of("/proc/self/status");
    if (!Files.exists(status)) {
      return false;
    }
    return Files.readAllLines(status).stream()
        .filter(line -> line.startsWith("SigIgn:"))
        .anyMatch(line -> (Long.parseUnsignedLong(line.substring(7).strip(), 16) >> bit & 1) == 1);
  }

  /** Which hears of no signal but the one that nothing survives. */
  @Test
  void aStoppedWorkerEndsWhenItsCoordinatorIsInterrupted() throws Exception {
    Process coordinator = coordinator(STOPPED);
    try (BufferedReader out = coordinator.inputReader()) {
      untilBothRun(out);
      new ProcessBuilder("kill", "-TERM", Long.toString(coordinator.pid())).start().waitFor();
      assertEquals(SIGNALS + TERM, coordinator.waitFor());
      untilAllHaveEnded();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"INT", "TERM", "HUP"})
  void workersEndWhenTheirCoordinatorIsInterrupted(String signal) throws Exception {
    assumeFalse(ignored(signal), "whoever started the tests has " + signal + " ignored");
    Process coordinator = coordinator(RUNNING);
    try (BufferedReader out = coordinator.inputReader()) {
      untilBothRun(out);
      new ProcessBuilder("kill", "-" + signal, Long.toString(coordinator.pid())).start().waitFor();
      coordinator.waitFor();
      untilAllHaveEnded();
      assertFalse(out.lines().anyMatch(line -> line.startsWith("failure")));
    }
    assertEquals(List.of(), leftBehind());
  }
}
