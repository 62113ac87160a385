package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.app.cli.terminal.Failures;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What `profile` says before it measures; the runtime's own tests measure. */
class ProfileCommandTest {
  private static String refused(String... args) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int status = Main.run(new PrintWriter(out), new PrintWriter(err), args);
    assertEquals(Failures.WRONG_INPUT, status, err.toString());
    assertEquals("", out.toString());
    assertEquals(1, err.toString().lines().count(), err.toString());
    return err.toString();
  }

  @ParameterizedTest(name = "{0} {1}")
  @CsvSource({
    "--batches, 0",
    "--batches, '1,-2'",
    "--repeats, 0",
    "--threads, 0",
    "--links, 1",
    "--links, 100",
    "--largest-message, 4",
    "--memory-metrics, 2",
    "--optimizer, rmsprop"
  })
  void aFlagThatMakesNoSenseIsNamedInOneSentence(String flag, String value) {
    String said = refused("profile", "mlp-8x1024", flag, value);
    assertTrue(said.startsWith("pipewright: " + flag + ":"), said);
    assertTrue(said.contains("; "), said);
  }

  @Test
  void theProcessorsTimeIsThatOfOneThread() {
    String said = refused("profile", "mlp-8x1024", "--processor-time", "--threads", "2");
    assertTrue(said.contains("--processor-time") && said.contains("--threads"), said);
  }

  @Test
  void withoutTheRuntimeItSaysHowToStart() {
    assertTrue(refused("profile", "mlp-8x1024").contains("./pipewright"));
  }
}
