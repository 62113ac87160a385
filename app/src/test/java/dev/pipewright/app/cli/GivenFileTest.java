package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.app.report.chart.SvgReader;
import dev.pipewright.planner.catalog.PlannerCatalog;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What any planner writes, {@code check} and {@code simulate} read; and what is damaged, not. */
class GivenFileTest {
  @TempDir private Path folder = Path.of("");

  private static Stream<String> planners() {
    return PlannerCatalog.names();
  }

  private static List<String> request(String planner, Path workload) {
    return switch (planner) {
      case "placement" -> List.of("plan", workload.toString());
      case "capture" -> {
        List<String> line = new ArrayList<>(of("bert-10", "dapple-a:1x4", "8"));
        line.addAll(List.of("--stages", "1")); // which four devices divide
        yield line;
      }
      case "madpipe" -> of("vgg-19", "dapple-a:1x4", "16");
      case "pipedream", "pipedream-2bw" -> of("bert-10", "dapple-a:1x4", "8");
      default -> of("bert-10", "dapple-a:2x2", "8");
    };
  }

  private static List<String> of(String model, String cluster, String batch) {
    return List.of("plan", model, "--cluster", cluster, "--global-batch", batch);
  }

  /** Six operators in a row, on two accelerators that hold four each and a processor. */
  private Path workload() {
    List<String> nodes = new ArrayList<>();
    List<String> edges = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      nodes.add(
          "{\"id\": %d, \"supportedOnFpga\": %d, \"cpuLatency\": 4, \"fpgaLatency\": %d, \"isBackwardNode\": 0, \"size\": 1}"
              .formatted(10 + i, i == 5 ? 0 : 1, 1 + i % 3));
    }
    for (int i = 1; i < 6; i++) {
      edges.add("{\"sourceId\": %d, \"destId\": %d, \"cost\": 0.25}".formatted(9 + i, 10 + i));
    }
    return Cli.file(
        folder,
        "work.json",
        "{\"maxFPGAs\": 2, \"maxCPUs\": 1, \"maxSizePerFPGA\": 4,\n\"nodes\": %s,\n\"edges\": %s}"
            .formatted(nodes, edges));
  }

  private Path planned(String planner, String... more) {
    Path out = folder.resolve(planner);
    List<String> line = new ArrayList<>(request(planner, workload()));
    line.addAll(List.of("--planner", planner, "--json", "--out", out.toString()));
    line.addAll(Arrays.asList(more));
    Cli answer = Cli.run(line.toArray(String[]::new)).ends(0);
    Path file = out.resolve("plan.json");
    if (json(file).has("objective")) {
      return file;
    }
    Cli.run("check", file.toString()).ends(0); // the answer states figures too
    return Cli.file(folder, planner + "-answer.json", answer.out());
  }

  /** Each planner's plan is drawn, when it is made and when it is simulated. */
  @ParameterizedTest
  @MethodSource("planners")
  void whatAPlannerWritesIsDrawn(String planner) throws Exception {
    if (planner.equals("placement")) {
      return; // its workload has no seconds
    }
    Path file = planned(planner);
    assertDrawn(folder.resolve(planner));
    Path simulated = folder.resolve(planner + "-simulated");
    Cli.run("simulate", file.toString(), "--out", simulated.toString()).ends(0);
    assertDrawn(simulated);
  }

  private static void assertDrawn(Path folder) throws Exception {
    JsonNode trace = json(folder.resolve("trace.json"));
    assertTrue(trace.at("/traceEvents").size() > 10, folder::toString);
    SvgReader.assertInside(Cli.text(folder.resolve("timeline.svg")));
    String page = Cli.text(folder.resolve("report.html"));
    assertTrue(page.contains("<h2 id=\"why\">") && page.contains("Timeline and memory"), page);
  }

  private static JsonNode json(Path file) {
    return JsonMapper.shared().readTree(Cli.text(file));
  }

  @ParameterizedTest
  @MethodSource("planners")
  void whatAPlannerWritesIsReadAndRunsAsItSays(String planner) {
    Path file = planned(planner);
    Cli check = Cli.run("check", file.toString()).ends(0);
    assertTrue(check.out().contains(": can run: "), check.out());
    assertFalse(Cli.run("simulate", file.toString()).ends(0).out().isEmpty());
    JsonNode run = Cli.run("simulate", file.toString(), "--json").ends(0).json();
    JsonNode stated = json(file);
    double value = stated.at("/objective/value").asDouble();
    double found = run.at("/objective/value").asDouble();
    switch (planner) {
      case "madpipe" -> {
        assertEquals(value, found, 1e-9 * value);
        double early = run.at("/simulated/as_soon_as_possible_s").asDouble();
        assertTrue(early <= value * (1 + 1e-9), run::toString);
        assertPeaks(stated.at("/plan/device_bytes"), run.at("/simulated/peak_bytes"), 1);
      }
      case "placement" -> assertEquals(value, found, 1e-9 * value);
      case "capture", "mcap", "mcap-bf", "mcap-bo" -> {
        double step = run.at("/simulated/step_s").asDouble();
        assertEquals(stated.at("/simulated/step_s").asDouble(), step, 1e-12 * step);
        assertEquals(stated.at("/candidates/0/estimate_s").asDouble(), found, 1e-12 * found);
        long most = 0;
        for (JsonNode peak : run.at("/simulated/peak_bytes")) {
          most = Math.max(most, peak.asLong());
        }
        assertEquals(value, (double) most, 0.51);
      }
      case "pipedream", "pipedream-2bw" -> assertEquals(value, found, 0.5 * value);
      default -> assertTrue(found > 0);
    }
  }

  /** Simulated peaks are none above the stated ones. */
  private static void assertPeaks(JsonNode stated, JsonNode found, double rounding) {
    assertEquals(stated.size(), found.size());
    for (int device = 0; device < stated.size(); device++) {
      assertTrue(found.get(device).asDouble() <= stated.get(device).asDouble() + rounding);
    }
  }

  @ParameterizedTest
  @CsvSource({"madpipe,1e9", "capture,1e8", "placement,1"})
  void lessMemoryIsTooLittle(String planner, String bytes) {
    Path file = planned(planner);
    Cli check = Cli.run("check", file.toString(), "--memory", bytes, "--json").ends(1);
    assertEquals("memory", check.json().at("/problems/0/what").asString(), check.out());
    assertTrue(check.json().at("/problems/0/line").asInt() > 0, check.out());
    assertTrue(check.out().contains(" needs "), check.out());
    Cli run = Cli.run("simulate", file.toString(), "--memory", bytes).ends(1);
    assertTrue(run.err().startsWith("pipewright: does not fit: "), run.err());
  }

  @Test
  void severalStagesOfADeviceRunAsTheirPatternSays() {
    Path file = planned("madpipe", "--memory", "1.3e9");
    JsonNode stated = json(file);
    assertFalse(stated.at("/plan/contiguous").asBoolean(), stated::toString);
    Cli.run("check", file.toString()).ends(0);
    JsonNode run = Cli.run("simulate", file.toString(), "--json").ends(0).json();
    double value = stated.at("/objective/value").asDouble();
    assertEquals(value, run.at("/objective/value").asDouble(), 1e-9 * value);
    double slow =
        Cli.run("simulate", file.toString(), "--slow", "0:3", "--json")
            .ends(0)
            .json()
            .at("/objective/value")
            .asDouble();
    assertTrue(slow > 1.1 * value, slow + " against " + value);
    Cli other = Cli.run("check", file.toString(), "--cluster", "dapple-c:4x1").ends(1);
    assertTrue(other.out().contains("lengthen period_s"), other.out());
    Cli.run("simulate", file.toString(), "--cluster", "dapple-c:4x1"); // slips, or does not fit
  }

  @Test
  void layersThatAreDividedMayRunAgain() {
    Path file = planned("capture", "--recompute", "selective");
    JsonNode stated = json(file);
    assertEquals("tensor:4", stated.at("/plan/stages/0/parallelism").asString());
    assertEquals("selective", stated.at("/plan/stages/0/recompute").asString());
    Cli.run("check", file.toString()).ends(0);
    JsonNode run = Cli.run("simulate", file.toString(), "--json").ends(0).json();
    double step = run.at("/simulated/step_s").asDouble();
    assertEquals(stated.at("/simulated/step_s").asDouble(), step, 1e-12 * step);
    String again = stated.at("/plan/stages/0/recomputed").toString();
    Path other = damaged(file, "\"recompute\": \"selective\",\\s*\"recomputed\": .*", "");
    Cli check = Cli.run("check", other.toString()).ends(1);
    assertTrue(check.out().contains("backward_s is "), again + check.out());
  }

  @Test
  void measuredPeaksAreCheckedAndHaveNoTimes() {
    Path table = Cli.file(folder, "peaks.csv", "alone,added\n30,\n30,20\n30,20\n10,5\n10,5\n");
    Path out = folder.resolve("measured");
    Cli.run(
            "plan",
            table.toString(),
            "--planner",
            "mcap",
            "--cluster",
            "dapple-a:1x2",
            "--out",
            out.toString())
        .ends(0);
    Path file = out.resolve("plan.json");
    Cli.run("check", file.toString()).ends(0);
    Cli small = Cli.run("check", file.toString(), "--memory", "45").ends(1);
    assertTrue(small.out().contains("stage 0 needs 50 B on device 0 of 45"), small.out());
    Cli.run("simulate", file.toString()).refusal(2, "which say nothing of times; check it");
  }

  private Path damaged(Path file, String good, String bad) {
    String text = Cli.text(file);
    Matcher match = Pattern.compile(good).matcher(text);
    assertTrue(match.find(), () -> good + " is not in " + text);
    return Cli.file(folder, "bad.json", match.replaceFirst(bad));
  }

  @ParameterizedTest(name = "{1}: {3}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "1 | madpipe | \"layers\": \\[0, | \"layers\": [1, | stages[0] begins at layer 1, but the one before ends at -1; let it begin at 0",
        "1 | madpipe | \"devices\": \\[1\\] | \"devices\": [0] | stages[1] and the one before are both on device 0; make them one stage",
        "2 | madpipe | \"schedule\": \"[^\"]*\" | \"schedule\": \"wave\" | plan.schedule is the text \"wave\"; expected 1f1b, 1f1b-star, or like 2-periodic",
        "1 | madpipe | \"batches\": 1 | \"batches\": 2 | in a period, but batches says 2; make them agree",
        "2 | madpipe | \\[\"SF\", 0, | [\"SX\", 0, | is the text \"SX\"; expected F, B, SF or SB",
        "1 | madpipe | \\[\"F\", 0, | [\"F\", 99, | is 99, but stages are 0..",
        "1 | madpipe | \\[\"F\", 0, | [\"F\", 1, | for the same batch; leave one",
        "1 | madpipe | \\[\"F\", 0, [^\\]]*\\], | `` | make 66, so add the others",
        "2 | madpipe | \"micro_batch\": 16 | \"micro_batch\": 8 | hold 8 samples, but global_batch says 16; make them agree",
        "2 | madpipe | \"contiguous\" | \"continuous\" | unknown key \"continuous\" in plan; did you mean \"contiguous\"?",
        "1 | capture | \"layers\": \\[0, | \"layers\": [1, | expected first layer 0, found 1",
        "2 | capture | tensor:4 | sensor:4 | parallelism is \"sensor:4\"; expected a kind of tensor, sequence, context, expert, filter, channel or spatial with its parts, like tensor:4",
        "2 | capture | \"tensor:4\" | \"tensor:2\", \"x\": 1 | unknown key \"x\" in plan.stages[0]",
        "1 | capture | \\[0, 1, 2, 3\\] | [0, 1, 2] | a stage has whole tensor-parallel groups: devices=3, parallelism=tensor:4",
        "1 | capture | \\[0, 1, 2, 3\\] | [0, 1, 1, 3] | device",
        "1 | placement | \"devices\": \\[1\\] | \"devices\": [0] | device 0 is in stages[0] and stages[1]; list its nodes in one",
        "1 | placement | \"nodes\": \\[10, | \"nodes\": [10, 10, | node 10 is in stages[0] and there again; leave it in one",
        "2 | placement | \"kind\": \"cpu\" | \"kind\": \"gpu\" | is the text \"gpu\"; expected one of",
      })
  void whatContradictsItselfIsToldInOneSentence(
      int status, String planner, String good, String bad, String words) {
    String file = damaged(planned(planner), good, bad).toString();
    Cli.contradicts(status, file, words);
  }

  @ParameterizedTest(name = "{0}: {2}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "madpipe | \"period_s\": (0\\.\\d{4})\\d* | \"period_s\": $1 | unsound | lengthen period_s",
        "madpipe | \"period_s\": 0 | \"period_s\": 1 | figure | objective.value is ",
        "madpipe | \"in_flight\": \\d+ | \"in_flight\": 77 | figure | plan.stages[0].in_flight is 77, but the plan gives ",
        "madpipe | \"memory_bytes\": \\d+ | \"memory_bytes\": 5 | figure | plan.stages[0].memory_bytes is 5, but the plan gives ",
        "madpipe | \"contiguous\": false | \"contiguous\": true | contiguity | contiguous is true, but a device has several stages; say false",
        "madpipe | \"devices\": \\[3\\] | \"devices\": [7] | misfit | names 7 but dapple-a:1x4 has devices 0..3; name one of those",
        "madpipe | , 24\\] | , 25] | misfit | ends at 25 but vgg-19 has layers 0..24",
        "capture | \"objective\": ([^}]*)\"value\": \\d+ | \"objective\": $1\"value\": 7 | figure | objective.value is 7",
        "capture | \"forward_s\": 0 | \"forward_s\": 3 | figure | plan.stages[0].forward_s is 3",
        "capture | , 11\\] | , 10] | misfit | ends at 10 but bert-10 has layers 0..11",
        "placement | \"load\": [\\d.]+ | \"load\": 99 | figure | plan.stages[0].load is 99, but the plan gives ",
        "placement | \"nodes\": \\[10, | \"nodes\": [ | missing | no device has node 10 of ",
        "placement | \"nodes\": \\[10, | \"nodes\": [10, 99, | foreign | stages[0] has node 99, which ",
        "placement | \"kind\": \"cpu\" | \"kind\": \"fpga\" | misfit | uses 3 accelerators, but the workload has 2",
      })
  void whatCannotRunIsAProblemWithItsPlace(
      String planner, String good, String bad, String what, String words) {
    Path file = damaged(planned(planner), good, bad);
    JsonNode json = Cli.run("check", file.toString(), "--json").ends(1).json();
    boolean found = false;
    for (JsonNode problem : json.get("problems")) {
      found |=
          what.contains(problem.get("what").asString())
              && problem.get("message").asString().contains(words);
    }
    assertTrue(found, json::toString);
    String first = Cli.run("check", file.toString()).ends(1).out();
    assertTrue(first.startsWith(file + ":"), first);
    assertTrue(first.lines().allMatch(line -> line.contains("; ")), first);
    if (!what.equals("figure") && !what.equals("contiguity")) {
      Cli.run("simulate", file.toString()).refusal(2, file);
    }
  }

  @Test
  void whatIsNotSimulatedIsRefused() {
    Path pattern = planned("madpipe");
    Path hybrid = planned("capture");
    Path placement = planned("placement");
    for (Path each : List.of(pattern, placement)) {
      Cli.run("simulate", each.toString(), "--jitter", "0.1").refusal(2, "--jitter: ", "--slow");
    }
    Cli.run("simulate", placement.toString(), "--out", folder.resolve("x").toString())
        .refusal(2, "--out: writes the pictures of a training step");
    Cli.run("simulate", hybrid.toString(), "--jitter", "0.1").ends(0);
    Cli.run("check", hybrid.toString(), "--cost-model", "dapple").ends(0);
    Cli.run("check", hybrid.toString(), "--cost-model", "dapple-repo").ends(1);
    Cli.plan("bert-10", "dapple-a:1x4", "--global-batch", "8", "--evaluate", hybrid.toString())
        .ends(0);
    for (Path each : List.of(pattern, placement)) {
      Cli.run("check", each.toString(), "--cost-model", "dapple").refusal(2, "--cost-model: is");
      Cli.plan("bert-10", "dapple-a:1x4", "--global-batch", "8", "--evaluate", each.toString())
          .refusal(2, "; give a plan for one of 1f1b, 1f1b-b, gpipe");
    }
    Cli.run("check", placement.toString(), "--cluster", "dapple-a")
        .refusal(2, "give --model or --memory alone");
    Path out = folder.resolve("pictures");
    Cli.run("simulate", hybrid.toString(), "--out", out.toString()).ends(0);
    assertTrue(Cli.text(out.resolve("trace.json")).contains("traceEvents"));
  }
}
