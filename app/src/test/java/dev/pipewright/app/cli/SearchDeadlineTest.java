package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.pipewright.app.cli.terminal.Failures;
import dev.pipewright.app.cli.terminal.SearchDeadline;
import dev.pipewright.formats.file.BadInputException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SearchDeadlineTest {
  /** A search without an end, as a program of its own. */
  static final class Endless {
    public static void main(String[] args) throws InterruptedException {
      SearchDeadline.sayInterrupts();
      try (SearchDeadline patience = new SearchDeadline(OptionalDouble.empty())) {
        System.out.println("searching");
        while (!patience.getAsBoolean()) {
          Thread.sleep(5);
        }
        System.out.println("best so far");
      }
      SearchDeadline.exit(args.length == 0 ? 0 : Integer.parseInt(args[0]));
    }
  }

  /** A command that hears of no interrupt. */
  static final class Deaf {
    public static void main(String[] args) throws InterruptedException {
      SearchDeadline.sayInterrupts();
      System.out.println("computing");
      if (args.length == 0) {
        Thread.sleep(600_000);
      }
      SearchDeadline.exit(0);
    }
  }

  /** A shell ignores it for what runs in its background, and so does all that is started there. */
  static void assumeHeard(String signal) throws IOException {
    Path status = Path.of("/proc/self/status");
    if (signal.equals("INT") && Files.exists(status)) {
      String ignored =
          Files.readAllLines(status).stream()
              .filter(line -> line.startsWith("SigIgn:"))
              .findFirst()
              .orElseThrow();
      long mask = Long.parseUnsignedLong(ignored.substring("SigIgn:".length()).strip(), 16);
      assumeTrue((mask & 1 << 1) == 0, "SIGINT is ignored here, as in a shell's background");
    }
  }

  private static Process endless(String... arguments) throws IOException {
    return start(Endless.class, arguments);
  }

  static Process start(Class<?> program, String... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(program.getName());
    command.addAll(List.of(arguments));
    return new ProcessBuilder(command).redirectErrorStream(true).start();
  }

  /** Which says of a training run that it has not done all that was asked for. */
  @ParameterizedTest
  @EnabledOnOs({OS.LINUX, OS.MAC})
  @CsvSource({"INT,130", "TERM,143"})
  void whatAnInterruptHasEndedHasTheStatusOfItsSignal(String signal, int status)
      throws IOException, InterruptedException {
    assumeHeard(signal);
    Process search = endless(Integer.toString(Failures.INTERRUPTED));
    try (var out = search.inputReader(StandardCharsets.UTF_8)) {
      assertEquals("searching", out.readLine());
      new ProcessBuilder("kill", "-" + signal, Long.toString(search.pid())).start().waitFor();
      assertEquals("best so far", out.readLine());
      assertNull(out.readLine());
      assertEquals(status, search.waitFor());
    } finally {
      search.destroyForcibly();
    }
  }

  @Test
  @EnabledOnOs({OS.LINUX, OS.MAC})
  void anInterruptIsASentenceWhereNothingElseSaysSo() throws IOException, InterruptedException {
    assumeHeard("INT");
    Process deaf = start(Deaf.class);
    try (var out = deaf.inputReader(StandardCharsets.UTF_8)) {
      assertEquals("computing", out.readLine());
      new ProcessBuilder("kill", "-INT", Long.toString(deaf.pid())).start().waitFor();
      assertEquals("pipewright: interrupted before it was done", out.readLine());
      assertEquals(130, deaf.waitFor());
    } finally {
      deaf.destroyForcibly();
    }
    Process done = start(Deaf.class, "done");
    assertEquals(
        "computing\n", new String(done.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
    assertEquals(0, done.waitFor());
  }

  @Test
  @EnabledOnOs({OS.LINUX, OS.MAC})
  void anInterruptEndsTheSearchAndTheAnswerIsPrinted() throws IOException, InterruptedException {
    assumeHeard("INT");
    Process search = endless();
    try (var out = search.inputReader(StandardCharsets.UTF_8)) {
      assertEquals("searching", out.readLine());
      new ProcessBuilder("kill", "-INT", Long.toString(search.pid())).start().waitFor();
      assertEquals("best so far", out.readLine());
      assertNull(out.readLine());
      assertEquals(0, search.waitFor());
    } finally {
      search.destroyForcibly();
    }
  }

  @Test
  void aTimeLimitEndsASearch() {
    try (SearchDeadline patience = new SearchDeadline(OptionalDouble.of(1e-3));
        SearchDeadline other = new SearchDeadline(OptionalDouble.empty())) {
      assertFalse(patience.ended());
      while (!patience.getAsBoolean()) {
        Thread.onSpinWait();
      }
      assertTrue(patience.ended());
      assertFalse(other.getAsBoolean());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "-1", "soon", "NaN", "1e7"})
  void refusesWhatIsNoTime(String text) {
    var error = assertThrows(BadInputException.class, () -> SearchDeadline.limit(text));
    assertEquals(
        "--time-limit: '" + text + "' is no time to search; give seconds up to a million, like 10",
        error.getMessage());
  }
}
