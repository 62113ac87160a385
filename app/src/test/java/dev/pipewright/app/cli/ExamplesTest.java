package dev.pipewright.app.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.api.Problem;
import dev.pipewright.plan.PipelinePlan;
import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** The programs of {@code examples} are short, compile, and print what the command line answers. */
class ExamplesTest {
  private static final Path EXAMPLES = Path.of("..", "examples");

  @TempDir Path folder;

  /** Compiles and runs a program with core and formats alone on its class path. */
  static String run(String example) throws IOException, InterruptedException, URISyntaxException {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-Dstdout.encoding=UTF-8",
                "-cp",
                classes(PipelinePlan.class) + File.pathSeparator + classes(Problem.class),
                EXAMPLES.resolve(example + ".java").toString())
            .redirectErrorStream(true)
            .start();
    String printed = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertEquals(0, process.waitFor(), printed);
    return printed;
  }

  private static String classes(Class<?> type) throws URISyntaxException {
    return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
  }

  private static JsonNode json(String command) {
    return Cli.run(command.split(" ")).ends(0).json();
  }

  private static String text(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }

  private static void assertLines(List<String> expected, String printed) {
    assertEquals(expected, printed.lines().toList());
  }

  @Test
  void thereAreFiveOfAtMostThirtyLines() throws IOException {
    try (Stream<Path> files = Files.list(EXAMPLES)) {
      List<Path> all = files.filter(file -> file.toString().endsWith(".java")).toList();
      assertEquals(5, all.size());
      for (Path file : all) {
        assertTrue(Files.readAllLines(file).size() <= 30, file.toString());
      }
    }
  }

  @Test
  void theDocumentationShowsTheFirst() throws IOException {
    String page = Files.readString(Path.of("..", "docs", "api.md"));
    String program = Files.readString(EXAMPLES.resolve("PlanGpt.java"));
    assertTrue(page.contains("```java\n" + program + "```\n"), program);
  }

  @Test
  void planGpt() throws Exception {
    JsonNode json =
        json("plan gpt-2-xl --cluster dgx-v100:1x4 --global-batch 32 --micro-batch 2 --json");
    List<String> expected = new ArrayList<>();
    expected.add(text("%.6f seconds", json.get("simulated").get("step_s").asDouble()));
    for (JsonNode stage : json.get("plan").get("stages")) {
      expected.add(
          text(
              "[%d..%d]×%d %d bytes",
              stage.get("layers").get(0).asInt(),
              stage.get("layers").get(1).asInt(),
              stage.get("devices").size(),
              stage.get("memory_bytes").asLong()));
      for (String category :
          List.of("parameters", "gradients", "optimizer", "activations", "workspace", "buffers")) {
        long bytes = stage.get("memory").get(category + "_bytes").asLong();
        expected.add("  " + category.toUpperCase(Locale.ROOT) + " " + bytes);
      }
    }
    assertLines(expected, run("PlanGpt"));
  }

  @Test
  void compareSchedules() throws Exception {
    List<String> expected = new ArrayList<>();
    for (String name : List.of("1f1b", "interleaved", "zb-h1", "dualpipev")) {
      JsonNode json =
          json("schedule " + name + " --stages 4 --micro-batches 8 --times 1,1,1,0.1 --json");
      List<Double> peaks = new ArrayList<>();
      json.get("peak_activations").forEach(peak -> peaks.add(peak.asDouble()));
      expected.add(
          text(
              "%s %.3f %.3f %s",
              name, json.get("makespan").asDouble(), json.get("idle_share").asDouble(), peaks));
    }
    assertLines(expected, run("CompareSchedules"));
  }

  @Test
  void priceYourPlan() throws Exception {
    Path plan =
        Cli.file(
            folder,
            "plan.json",
            """
            {
              "schedule": "1f1b", "micro_batches": 8, "micro_batch": 1, "replicas": 8,
              "overlap_allreduce": false,
              "stages": [
                {"layers": [0, 24], "devices": [0, 1, 2, 3, 4, 5, 6, 7]},
                {"layers": [25, 49], "devices": [8, 9, 10, 11, 12, 13, 14, 15]}
              ]
            }
            """);
    List<String> expected = new ArrayList<>();
    for (String model : List.of("pipewright", "dapple", "dapple-published", "dapple-repo")) {
      JsonNode json =
          json(
              "plan bert-48 --cluster dapple-a --global-batch 64 --json --cost-model "
                  + model
                  + " --evaluate "
                  + plan);
      double peak = 0;
      for (JsonNode stage : json.get("plan").get("stages")) {
        peak = Math.max(peak, stage.get("memory_bytes").asDouble());
      }
      double seconds = json.get("objective").get("value").asDouble();
      expected.add(text("%s %.6f %.3f", model, seconds, peak / (1 << 30)));
    }
    assertLines(expected, run("PriceYourPlan"));
  }

  @Test
  void slowDevice() throws Exception {
    Path out = folder.resolve("four");
    Cli.run(
            "plan",
            "bert-48",
            "--cluster",
            "dapple-a",
            "--global-batch",
            "64",
            "--stages",
            "4",
            "--out",
            out.toString())
        .ends(0);
    List<String> expected = new ArrayList<>();
    String simulate = "simulate " + out.resolve("plan.json") + " --json";
    expected.add(line("none", json(simulate)));
    for (int rank = 0; rank < 4; rank++) {
      expected.add(line("rank " + rank, json(simulate + " --slow " + rank + ":1.5")));
    }
    assertLines(expected, run("SlowDevice"));
  }

  private static String line(String slow, JsonNode json) {
    JsonNode step = json.get("simulated");
    return text(
        "%s: %.6f %.4f", slow, step.get("step_s").asDouble(), step.get("idle_share").asDouble());
  }

  @Test
  void sweepClusters() throws Exception {
    List<String> expected = new ArrayList<>();
    for (int machines : List.of(1, 2, 4)) {
      String cluster = "dgx-v100:" + machines + "x8";
      for (String planner : List.of("auto", "data", "gpipe")) {
        JsonNode json =
            json(
                "plan vgg-19 --global-batch 512 --precision fp16 --json --cluster "
                    + cluster
                    + " --planner "
                    + planner);
        double seconds = json.get("simulated").get("step_s").asDouble();
        expected.add(text("%s %s %.6f", cluster, planner, seconds));
      }
    }
    assertLines(expected, run("SweepClusters"));
  }
}
