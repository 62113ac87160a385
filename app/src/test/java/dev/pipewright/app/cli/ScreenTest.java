package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.app.cli.terminal.Progress;
import dev.pipewright.app.cli.terminal.Screen;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ScreenTest {
  /** Clears the screen, sets a title, rings, rewrites a line, turns the direction of writing. */
  private static final String NASTY = "a\u001b[2J\u001b]0;t\u0007\u009b31m\rb\u202ec\u2066d\u007f";

  private static final String SHOWN =
      "a\\u001b[2J\\u001b]0;t\\u0007\\u009b31m\\u000db\\u202ec\\u2066d\\u007f";

  @TempDir Path folder;

  private static String printed(boolean colours, String text) {
    StringWriter to = new StringWriter();
    Screen.of(to, colours).print(text);
    return to.toString();
  }

  @Test
  void whatWouldCommandATerminalIsShown() {
    for (boolean colours : new boolean[] {true, false}) {
      assertEquals(SHOWN, printed(colours, NASTY));
      assertEquals("é ×8 ░█ 層\n\t|", printed(colours, "é ×8 ░█ 層\n\t|"));
    }
  }

  @Test
  void onlyOurColoursPassAndOnlyWhereThereAreColours() {
    String ours = "\u001b[34m██\u001b[0m";
    assertEquals(ours, printed(true, ours));
    assertEquals("\\u001b[34m██\\u001b[0m", printed(false, ours));
    assertEquals("\\u001b[8mhidden", printed(true, "\u001b[8mhidden"));
  }

  @Test
  void errorsComeAfterTheAnswerThatWasPrintedBefore() {
    StringWriter terminal = new StringWriter();
    StringBuilder kept = new StringBuilder();
    java.io.Writer slow = // keeps what it has until it is flushed
        new java.io.Writer() {
          @Override
          public void write(char[] letters, int from, int count) {
            kept.append(letters, from, count);
          }

          @Override
          public void flush() {
            terminal.append(kept);
            kept.setLength(0);
          }

          @Override
          public void close() {}
        };
    Screen out = Screen.of(slow, false);
    Screen err = Screen.after(out, terminal, false);
    out.print("the table\n");
    err.print("wrote plan.json\n");
    assertEquals("the table\nwrote plan.json\n", terminal.toString());
  }

  @Test
  void aStatusLineGoesWithWhateverIsPrintedAndNeverComesAfterTheAnswer() {
    StringWriter terminal = new StringWriter();
    Screen out = Screen.of(terminal, false);
    Screen err = Screen.after(out, terminal, false);
    err.status("planning … 2 s");
    err.status("planning … 3 s");
    out.print("answer\n");
    err.status("planning … 4 s");
    assertEquals(
        "\r\u001b[Kplanning … 2 s\r\u001b[Kplanning … 3 s\r\u001b[Kanswer\n", terminal.toString());
  }

  @Test
  void progressFitsTheTerminal() {
    String words = "planning; Ctrl-C ends the search";
    assertEquals("planning … 2 s; Ctrl-C ends the search", Progress.line(words, 2, 80));
    assertEquals("planning … 1:05 min", Progress.line(words, 65, 30));
  }

  @Test
  void namesFromFilesNeverReachTheTerminalAsTheyAre() {
    String json = "x\\u001b[2J\\u001b]0;t\\u0007\\u202e\\nforged";
    Path model =
        Cli.file(
            folder,
            "model.json",
            """
            {"format": "pipewright-profile", "version": 1, "model": "NAME",
             "provenance": {"source": "NAME", "device": "NAME", "date": "2025-01-31", "measured": true},
             "precision": "fp32",
             "layers": [{"name": "NAME", "operator": {"kind": "elementwise", "function": "relu"},
               "parameters": 0, "output_elements": 3, "kept_elements": 3, "output_bytes": 12,
               "kept_bytes": 12, "parameter_bytes": 0}],
             "edges": [], "batches": [{"samples": 1, "forward_s": [1e-3],
               "backward_s": [2e-3], "update_s": [0]}]}
            """
                .replace("NAME", json));
    Path cluster =
        Cli.file(folder, "cluster.yaml", Cli.cluster().replace("small", "\"" + json + "\""));
    for (List<String> command :
        List.of(
            List.of("plan", "--global-batch", "8"),
            List.of("plan", "--global-batch", "8", "--json"),
            List.of("predict", "--devices", "1,2"),
            List.of("plan", "--global-batch", "8", "--planner", "capture"))) {
      List<String> line = new java.util.ArrayList<>(command);
      line.addAll(1, List.of(model.toString(), "--cluster", cluster.toString()));
      Cli run = Cli.run(line.toArray(new String[0]));
      String all = run.out() + run.err();
      assertFalse(all.matches("(?s).*[\u001b\u0007\u202e].*"), all);
      assertTrue(all.lines().noneMatch(shown -> shown.startsWith("forged")), all);
      run.ends(0);
    }
    Cli.plan("bad\u001b[2J\u202ename", "dapple-a", "--global-batch", "8")
        .refusal(2, "no model 'bad\\u001b[2J\\u202ename'");
  }
}
