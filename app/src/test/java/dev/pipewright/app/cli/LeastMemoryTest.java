package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.api.Planned;
import dev.pipewright.api.Planners;
import dev.pipewright.api.Problem;
import dev.pipewright.app.cli.plan.Answer;
import dev.pipewright.app.cli.plan.StepAnswer;
import dev.pipewright.formats.PlanJson;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.plan.PipelinePlan;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class LeastMemoryTest {
  @TempDir Path folder;

  private static Problem problem(String model, String cluster, String memory, int batch) {
    return Problem.of(model, cluster, batch).withMemory(memory).withSchedule("1f1b");
  }

  private static Answer answer(String planner, String memory) {
    Problem problem = problem("bert-10", "dapple-a:1x4", memory, 8);
    return StepAnswer.of(Planners.plan(problem, planner), OptionalInt.empty(), false);
  }

  private static JsonNode json(Answer answer) {
    return JsonMapper.shared().readTree(answer.json());
  }

  private static String text(Answer answer) {
    StringWriter text = new StringWriter();
    answer.print(new PrintWriter(text));
    return text.toString();
  }

  @Test
  void aStoppedSearchSaysSoAndNamesNoRunnerUpThatHoldsLess() {
    Problem problem = problem("bert-48", "dapple-a", "16GiB", 64);
    Planned stopped = Planners.plan(problem, "mcap-bf", () -> true);
    Answer answer = StepAnswer.of(stopped, OptionalInt.empty(), true);
    assertTrue(answer.planning().gap() > 0, "the first 16,384 partitions hold no optimum");
    assertEquals(List.of("the search was ended early; this is the best so far"), answer.remarks());
    assertTrue(answer.planning().runnerUp().isEmpty());
    assertEquals(List.of(), answer("mcap-bf", "16GiB").remarks());
  }

  @ParameterizedTest
  @ValueSource(strings = {"mcap", "mcap-bf", "mcap-bo"})
  void straightPlansHaveTheObjectiveOfTheContractAndAreReadBack(String planner) throws IOException {
    Answer answer = answer(planner, "16GiB");
    JsonNode json = json(answer);
    assertEquals(planner, json.get("planner").asString());
    assertEquals("peak_bytes", json.at("/objective/name").asString());
    double peak = json.at("/objective/value").asDouble();
    double fullest = 0;
    for (JsonNode stage : json.at("/plan/stages")) {
      fullest = Math.max(fullest, stage.get("memory_bytes").asDouble());
    }
    assertEquals(peak, fullest, 0.5);
    assertEquals(4, json.at("/plan/stages").size());
    assertTrue(json.at("/lower_bound/value").asDouble() <= peak);
    assertTrue(json.at("/simulated/step_s").asDouble() > 0);
    assertEquals(4, json.at("/simulated/peak_bytes").size());
    assertTrue(json.at("/why/binding").asString().startsWith("memory: stage "));
    Path file = Files.writeString(folder.resolve("answer.json"), answer.json());
    assertEquals(answer.planning().best().orElseThrow().plan(), PlanJson.read(file).plan());
    assertTrue(text(answer).contains("lower bound"), text(answer));
  }

  @Test
  void theOptimaOfBruteForceAndDynamicProgrammingAgree() {
    assertEquals(
        json(answer("mcap-bf", "16GiB")).at("/plan/stages"),
        json(answer("mcap", "16GiB")).at("/plan/stages"));
  }

  @Test
  void captureListsPlansFromTheSmallestPeakToTheFastestStep() {
    Answer answer = answer("capture", "16GiB");
    JsonNode json = json(answer);
    JsonNode candidates = json.get("candidates");
    assertTrue(candidates.size() > 2, json::toString);
    assertEquals(
        json.at("/objective/value").asDouble(), candidates.at("/0/peak_bytes").asDouble(), 0.5);
    for (int i = 1; i < candidates.size(); i++) {
      JsonNode before = candidates.get(i - 1);
      JsonNode here = candidates.get(i);
      assertTrue(before.get("peak_bytes").asLong() < here.get("peak_bytes").asLong());
      assertTrue(before.get("estimate_s").asDouble() > here.get("estimate_s").asDouble());
    }
    double mcap = json(answer("mcap", "16GiB")).at("/objective/value").asDouble();
    assertTrue(json.at("/objective/value").asDouble() <= mcap);
    assertTrue(json.at("/search/exhaustive").asBoolean());
    assertTrue(text(answer).contains("from the smallest peak to the fastest step\n"));
  }

  @Test
  void dividedTensorsAreSaidSoAndSimulated() {
    Answer answer = answer("capture", "16GiB");
    JsonNode json = json(answer);
    PipelinePlan plan = answer.planning().best().orElseThrow().plan();
    assertTrue(plan.dividesLayers(), json::toString);
    double step = json.at("/simulated/step_s").asDouble();
    assertEquals(step, json.at("/candidates/0/estimate_s").asDouble(), 0.1 * step);
    assertTrue(
        json.at("/plan/stages")
            .valueStream()
            .anyMatch(stage -> stage.path("parallelism").asString("").startsWith("tensor:")));
    assertEquals(Answer.FILES, answer.files());
    assertTrue(text(answer).contains("tensor ×"), text(answer));
  }

  @ParameterizedTest
  @ValueSource(strings = {"mcap", "capture"})
  void tooLittleMemorySaysHowMuchWouldDo(String planner) {
    Answer answer = answer(planner, "100MiB");
    String reason = answer.nothing().orElseThrow();
    assertTrue(reason.startsWith("the smallest peak of any plan is "), reason);
    assertTrue(reason.contains("a device has 100 MiB; give the devices that much"), reason);
    assertTrue(json(answer).get("plan").isNull());
    Answer enough = answer(planner, json(answer).at("/objective/value").asLong() + 1 + "");
    assertTrue(enough.nothing().isEmpty());
  }

  @Test
  void moreDevicesThanLayersIsOneSentence() {
    var refusal =
        assertThrows(
            BadInputException.class,
            () -> Planners.plan(problem("bert-1", "dapple-a:1x8", "16GiB", 8), "mcap"));
    assertEquals(
        "--planner mcap: 8 devices need a layer each: layers=3; use at most as many devices",
        refusal.getMessage());
  }

  @ParameterizedTest
  @ValueSource(strings = {"mcap", "mcap-bf", "mcap-bo"})
  void measuredPeaksArePlannedWithoutTimes(String planner) throws IOException {
    Path table = folder.resolve("peaks.csv");
    Files.writeString(table, "alone,added\n30,\n30,20\n30,20\n10,5\n10,5\n");
    Cli plan = Cli.plan(table, "dapple-a:1x2", "--planner", planner, "--json").ends(0);
    JsonNode json = plan.json();
    assertEquals(50, json.at("/objective/value").asDouble());
    assertEquals("[0,1]", json.at("/plan/stages/0/layers").toString());
    assertTrue(json.get("simulated").isNull());
    assertTrue(json.at("/candidates/0/estimate_s").isNull());
    String text = Cli.plan(table, "dapple-a:1x2", "--planner", planner).ends(0).out();
    assertTrue(text.startsWith("peaks.csv on dapple-a"), text);
    String refusal = Cli.plan(table, "dapple-a:1x2", "--planner", "capture").refusal(2);
    assertTrue(
        refusal.endsWith(
            "peaks of single devices say nothing of shared stages; plan with mcap, or capture"
                + " without the table"),
        refusal);
  }

  @Test
  void theCommandPlansModelsAndTables() throws IOException {
    String[] capture = {"--global-batch", "8", "--planner", "capture"};
    String text = Cli.plan("bert-10", "dapple-a:1x4", capture).ends(0).out();
    assertTrue(text.contains("by capture with cost model"), text);
    assertEquals(2, text.split("  precision ", -1).length, text);
    Cli json =
        Cli.run(
            "plan",
            "bert-10",
            "--cluster",
            "dapple-a:1x4",
            "--json",
            "--global-batch=8",
            "--planner=capture");
    assertEquals("capture", json.ends(0).json().get("planner").asString());
    Path table = folder.resolve("peaks.csv");
    Files.writeString(table, "alone,added\n5,0\n7,3\n6,2\n9,4\n");
    String file = table.toString();
    Cli measured =
        Cli.run("plan", file, "--cluster", "dapple-a:1x2", "--planner", "mcap", "--json").ends(0);
    assertEquals(10, measured.json().at("/objective/value").asDouble()); // 5 + 3, 6 + 4
    Cli.run("plan", file, "--cluster", "dapple-a:1x2", "--planner", "capture")
        .refusal(2, "peaks of single devices say nothing of shared stages; plan with mcap");
  }
}
