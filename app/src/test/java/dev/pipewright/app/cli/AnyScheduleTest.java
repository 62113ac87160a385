package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.app.cli.given.GivenFile;
import dev.pipewright.app.cli.given.GivenStep;
import dev.pipewright.app.cli.given.PlanArgument;
import dev.pipewright.app.cli.train.TrainingStages;
import dev.pipewright.plan.Assignment;
import dev.pipewright.predict.run.RunPrediction;
import dev.pipewright.schedule.catalog.ScheduleCatalog;
import dev.pipewright.schedule.catalog.ScheduleEntry;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;

/** {@code plan --schedule} with every schedule of the catalogue, and with schedules from files. */
class AnyScheduleTest {
  private static final double ROUNDING = 1e-9;

  @TempDir private Path folder = Path.of("");

  static Stream<String> pipelines() {
    return ScheduleCatalog.entries().stream()
        .filter(ScheduleEntry::isSynchronousPipeline)
        .map(ScheduleEntry::name);
  }

  private Cli plan(String schedule, String... more) {
    String[] common = {"--global-batch", "16", "--schedule", schedule, "--out", folder.toString()};
    String[] all = Stream.of(common, more).flatMap(Stream::of).toArray(String[]::new);
    return Cli.plan("gpt-8x256", "dapple-a:2x2", all);
  }

  @ParameterizedTest
  @MethodSource("pipelines")
  void everyPipelineTravelsFromThePlannerThroughItsFile(String schedule) {
    JsonNode answer = plan(schedule, "--stages", "4", "--json").ends(0).json();
    assertEquals(schedule, answer.at("/plan/schedule").asString());
    double estimate = answer.at("/objective/value").asDouble();
    assertTrue(answer.at("/lower_bound/value").asDouble() <= estimate * (1 + ROUNDING));
    String file = folder.resolve("plan.json").toString();
    Cli.run("check", file).ends(0);
    JsonNode simulated = Cli.run("simulate", file, "--json").ends(0).json();
    assertEquals(answer.get("plan"), simulated.get("plan"));
    assertEquals(answer.get("simulated"), simulated.get("simulated"));

    PlanArgument argument = new PlanArgument();
    new CommandLine(argument).parseArgs(file);
    GivenStep given = (GivenStep) GivenFile.of(argument);
    TrainingStages trained = TrainingStages.of(Path.of(file));
    Assignment assignment = trained.assignment(given.costed().workload().chain().graph());
    RunPrediction prediction =
        new RunPrediction(given.costed().costs(), assignment, trained.devices());
    double simulatedSeconds = answer.at("/simulated/step_s").asDouble();
    assertEquals(simulatedSeconds, prediction.simulate().makespan(), ROUNDING * simulatedSeconds);
  }

  @ParameterizedTest
  @CsvSource({"pipedream,pipedream", "pipedream-2bw,pipedream-2bw", "1f1b-star,madpipe"})
  void schedulesWithoutFlushesAreForTheirPlanner(String schedule, String planner) {
    JsonNode answer = plan(schedule, "--json").ends(0).json();
    assertEquals(planner, answer.get("planner").asString());
  }

  @Test
  void aScheduleFromAFileIsPlannedForItsRanksAndMicroBatches() {
    String csv = folder.resolve("mine.csv").toString();
    Cli.schedule("zb-v", 4, 8, "--csv", csv).ends(0);
    JsonNode answer = plan(csv, "--json").ends(0).json();
    assertEquals("mine.csv", answer.at("/plan/schedule").asString());
    assertEquals(8, answer.at("/plan/micro_batches").asInt());
    assertEquals(8, answer.at("/plan/stages").size());
    Cli.run("check", folder.resolve("plan.json").toString()).ends(0);
    plan(csv, "--stages", "2").refusal(1, "mine.csv", "4 ranks and 8 micro-batches");
  }

  @Test
  void chunksAreForSchedulesWithAChoice() {
    JsonNode answer =
        plan("interleaved", "--stages", "2", "--chunks", "3", "--json").ends(0).json();
    assertEquals(6, answer.at("/plan/stages").size());
    plan("zb-v", "--chunks", "3").refusal(2, "--chunks", "zb-v");
    plan("1f1b", "--chunks", "2").refusal(2, "--chunks", "--schedule");
    for (String none : List.of("0", "-3")) {
      plan("interleaved", "--chunks", none).refusal(2, "--chunks: " + none, ">= 1");
    }
    for (String many : List.of("99", "2147483647")) {
      plan("interleaved", "--chunks", many).refusal(1, "enough layers");
    }
  }

  @Test
  void whatNoPlannerPricesIsRefused() {
    plan("zb-h3").refusal(2, "--schedule", "zb-h1");
    plan("cyclic-v1").refusal(2, "cyclic-v1", "pipewright schedule");
    plan("dp").refusal(2, "dp", "--planner data");
    plan("zb-h1", "--planner", "capture").refusal(2, "capture", "zb-h1", "--planner auto");
    plan("zb-h1", "--cost-model", "dapple").refusal(2, "--cost-model", "pipewright");
    plan("gpipe", "--planner", "pipedream").refusal(2, "--schedule", "pipedream");
  }
}
