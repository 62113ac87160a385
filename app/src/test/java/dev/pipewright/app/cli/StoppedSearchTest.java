package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.app.cli.terminal.Failures;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StoppedSearchTest {
  @ParameterizedTest
  @ValueSource(strings = {"mcap", "mcap-bf", "mcap-bo", "madpipe"})
  void aSearchThatIsStoppedBeforeItFoundAPlanSaysSo(String planner) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int status =
        Main.run(
            new PrintWriter(out),
            new PrintWriter(err),
            "plan",
            "mlp:layers=1000,hidden=64",
            "--cluster=dapple-a",
            "--global-batch=16",
            "--planner=" + planner,
            "--time-limit=1e-9");
    assertEquals(
        "pipewright: the search was ended before it found a plan; give it more time, or a network"
            + " of fewer layers\n",
        err.toString());
    assertEquals("", out.toString());
    assertEquals(Failures.NO, status);
  }
}
