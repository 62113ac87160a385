package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.app.report.text.TextWidth;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** No line of an answer or refusal is longer than the terminal is wide. */
class WidthTest {
  private static final List<String> PROPERTIES =
      List.of("pipewright.columns", "pipewright.terminal", "pipewright.progress");

  @TempDir private Path folder;

  @BeforeEach
  void onATerminal() {
    System.setProperty("pipewright.terminal", "true");
    System.setProperty("pipewright.progress", "true");
  }

  @AfterEach
  void asBefore() {
    PROPERTIES.forEach(System::clearProperty);
  }

  private List<String> commands() {
    Path graph = Cli.file(folder, "a-network-with-a-long-name.txt", Cli.smallGraph());
    Path cluster = Cli.file(folder, "cluster.yaml", Cli.cluster());
    Path plan = folder.resolve("planned").resolve("plan.json");
    String small =
        "plan " + graph + " --cluster " + cluster + " --global-batch 16 --profile-batch 1";
    List<String> commands = new ArrayList<>();
    for (String planner :
        List.of(
            "auto", "gpipe", "data", "mcap", "capture", "madpipe", "pipedream", "pipedream-2bw")) {
      commands.add(small + " --planner " + planner + " --out " + folder.resolve("planned"));
      commands.add("simulate " + plan);
      commands.add("check " + plan);
    }
    commands.add(
        "plan gpt:layers=4,hidden=64,heads=4,sequence=64,vocabulary=50257,and=more --cluster dgx-h100:1x4"
            + " --global-batch 16");
    commands.add(
        "plan gpt:layers=8,hidden=256,heads=4,sequence=128,vocabulary=50257 --cluster"
            + " dgx-h100:1x4 --global-batch 16 --planner straight");
    commands.add(
        "predict " + graph + " --cluster " + cluster + " --profile-batch 1 --strategies all");
    commands.add("schedule zb-v --beside 1f1b,cyclic-v2 --stages 4 --micro-batches 8");
    commands.add(
        "schedule pipedream --stages 4 --micro-batches 8 --step-times 1,1,0,0 --replicas 2");
    commands.add("models");
    commands.add("models gpt");
    commands.add("clusters");
    commands.add("plan");
    commands.add("--help");
    commands.add("compare --help");
    return commands;
  }

  @ParameterizedTest(name = "{0} columns")
  @ValueSource(ints = {60, 80, 200})
  void everyLineStaysWithinTheTerminal(int columns) {
    System.setProperty("pipewright.columns", "" + columns);
    for (String command : commands()) {
      Cli run = Cli.run(command.split(" ", -1));
      for (String line : (run.out() + run.err()).lines().toList()) {
        String shown = line.replaceAll("\u001b\\[[0-9;?]*[A-Za-z]", "");
        assertTrue(
            TextWidth.of(shown) <= columns,
            () -> command + "\n" + TextWidth.of(shown) + ": " + shown);
      }
    }
  }

  @Test
  void aPipeGetsASentenceInOneLine() {
    PROPERTIES.forEach(System::clearProperty);
    String schedule = Cli.schedule("1f1b", 4, 8, "--json").out();
    Path file = Cli.file(folder, "a-schedule-with-quite-a-long-name-for-a-file.json", schedule);
    String line = Cli.run("check", file.toString()).ends(0).out().lines().findFirst().orElseThrow();
    assertTrue(line.endsWith("can run: 4 ranks, 4 stages, 8 micro-batches, 64 ops"), line);
  }
}
