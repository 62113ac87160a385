package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.pipewright.api.Oracles;
import dev.pipewright.api.PassTimes;
import dev.pipewright.api.Planned;
import dev.pipewright.api.Planners;
import dev.pipewright.api.Problem;
import dev.pipewright.api.Schedules;
import dev.pipewright.api.SimulatedSchedule;
import dev.pipewright.api.SimulatedStep;
import dev.pipewright.api.Simulator;
import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.PeakMemory;
import dev.pipewright.formats.PlanJson;
import dev.pipewright.formats.catalog.ModelFiles;
import dev.pipewright.formats.cluster.ClusterYaml;
import dev.pipewright.formats.model.ModelFile;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.zoo.Clusters;
import dev.pipewright.zoo.Models;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;

/** The library answers as the command line does. */
class LibraryTest {
  @TempDir Path folder;

  private static Cli command(String line) {
    return Cli.run(line.split(" "));
  }

  private static final Problem BERT = Problem.of("bert-48", "dapple-a", 64);

  static Stream<Arguments> problems() {
    return Stream.of(
        arguments("bert-48 --cluster dapple-a --global-batch 64", "auto", BERT),
        arguments(
            "bert-48 --cluster dapple-a --global-batch 64 --precision fp16 --stages 4",
            "dapple",
            BERT.withPrecision("fp16").withStages(4)),
        arguments(
            "bert-48 --cluster dapple-a --global-batch 64 --micro-batch 2 --recompute full",
            "gpipe",
            BERT.withMicroBatch(2).withRecompute("full")),
        arguments(
            "gnmt-16 --cluster dapple-b --global-batch 256",
            "data",
            Problem.of("gnmt-16", "dapple-b", 256)),
        arguments(
            "vgg-19 --cluster dapple-c --global-batch 128 --optimizer momentum",
            "straight",
            Problem.of("vgg-19", "dapple-c", 128).withOptimizer("momentum")),
        arguments(
            "gpt-2-xl --cluster dgx-h100:1x8 --global-batch 32 --precision bf16 --memory-reserve 0.2",
            "alpa",
            Problem.of("gpt-2-xl", "dgx-h100:1x8", 32)
                .withPrecision("bf16")
                .withMemoryReserve(0.2)),
        arguments(
            "resnet-50 --cluster selene:1x4 --global-batch 64 --precision tf32",
            "torchgpipe",
            Problem.of("resnet-50", Clusters.find("selene:1x4").orElseThrow(), 64)
                .withPrecision("tf32")),
        arguments(
            "bert-48 --cluster dapple-a --global-batch 32 --schedule interleaved --memory 32GiB",
            "auto",
            Problem.of("bert-48", "dapple-a", 32).withSchedule("interleaved").withMemory("32GiB")),
        arguments(
            "bert-48 --cluster dapple-a --global-batch 64 --cost-model dapple-repo",
            "auto",
            BERT.withCostModel("dapple-repo")),
        arguments(
            "gpt-2-xl --cluster dapple-a:1x2 --global-batch 8 --memory 8e9", // nothing fits
            "auto",
            Problem.of("gpt-2-xl", "dapple-a:1x2", 8).withMemory("8e9")));
  }

  @ParameterizedTest
  @MethodSource("problems")
  void plansAsTheCommandLineDoes(String arguments, String planner, Problem problem) {
    Cli cli = command("plan " + arguments + " --planner " + planner + " --json");
    JsonNode json = cli.json();
    Planned found = Planners.plan(problem, planner);
    assertEquals(cli.status() == 0, found.fits());
    if (json.get("plan").isNull()) {
      assertEquals("pipewright: nothing fits: " + found.reason().orElseThrow(), cli.err().strip());
      assertThrows(NoSuchElementException.class, found::plan);
      return;
    }
    assertEquals(Optional.empty(), found.reason());
    assertAgree(json, found);
  }

  private void assertAgree(JsonNode json, Planned found) {
    Path file = Cli.file(folder, "plan.json", json.toString());
    assertEquals(PlanJson.read(file).plan(), found.plan());
    assertEquals(json.get("objective").get("value").asDouble(), found.estimatedSeconds());
    assertEquals(
        json.get("lower_bound").get("value").asDouble(), found.planning().lowerBound().value());
    assertEquals(json.get("candidates").size(), found.planning().candidates().size());
    assertMemory(json.get("plan").get("stages"), found.memory());
    assertStep(json.get("simulated"), found.step());
  }

  private static void assertMemory(JsonNode stages, List<PeakMemory> memory) {
    assertEquals(stages.size(), memory.size());
    for (int stage = 0; stage < stages.size(); stage++) {
      assertEquals(
          stages.get(stage).get("memory_bytes").asLong(),
          Math.round(memory.get(stage).peakBytes()));
      JsonNode categories = stages.get(stage).get("memory");
      double sum = memory.get(stage).categories().values().stream().mapToDouble(v -> v).sum();
      assertEquals(memory.get(stage).peakBytes(), sum, 1);
      memory
          .get(stage)
          .categories()
          .forEach((category, bytes) -> {
            JsonNode said = categories.get(category.name().toLowerCase(Locale.ROOT) + "_bytes");
            assertEquals(said.asDouble(), bytes, 1);
          });
    }
  }

  private static void assertStep(JsonNode json, SimulatedStep step) {
    assertEquals(json.get("step_s").asDouble(), step.seconds());
    assertEquals(json.get("idle_share").asDouble(), step.idleShare());
    long peak = 0;
    for (JsonNode bytes : json.get("peak_bytes")) {
      peak = Math.max(peak, bytes.asLong());
    }
    assertEquals(peak, Math.round(step.peakBytes()));
  }

  @Test
  void planOfANetworkAndAClusterOfYourOwn() {
    Path graph = Cli.file(folder, "graph.txt", Cli.smallGraph());
    Path cluster = Cli.file(folder, "small.yaml", Cli.cluster());
    Cli cli =
        Cli.plan(graph, cluster, "--profile-batch", "2", "--global-batch", "16", "--json").ends(0);
    Problem byName = Problem.of(graph.toString(), cluster.toString(), 16).withProfileBatch(2);
    assertAgree(cli.json(), Planners.plan(byName));
    ModelFile network = ModelFiles.read(graph, OptionalInt.of(2), Optional.empty());
    Problem given = Problem.of(network.graph(), network.profile(), ClusterYaml.read(cluster), 16);
    assertAgree(cli.json(), Planners.plan(given));
  }

  /** A network by its shapes alone is priced as the zoo's is. */
  @Test
  void planOfShapesOfYourOwn() {
    Problem given =
        Problem.of(
            Models.find("bert-48").orElseThrow().graph(),
            Clusters.find("dapple-a").orElseThrow(),
            64);
    assertAgree(
        command("plan bert-48 --cluster dapple-a --global-batch 64 --optimizer adam --json").json(),
        Planners.plan(given));
  }

  static Stream<String> costModels() {
    return Oracles.names().stream();
  }

  @ParameterizedTest
  @MethodSource("costModels")
  void predictsAsTheCommandLineDoes(String costModel) {
    PipelinePlan plan = Planners.plan(BERT.withStages(2).withMicroBatch(2), "dapple").plan();
    Path file = folder.resolve("given");
    command(
            "plan bert-48 --cluster dapple-a --global-batch 64 --stages 2 --micro-batch 2"
                + " --planner dapple --out "
                + file)
        .ends(0);
    JsonNode json =
        command(
                "plan bert-48 --cluster dapple-a --global-batch 64 --json --cost-model "
                    + costModel
                    + " --evaluate "
                    + file.resolve("plan.json"))
            .json();
    Assessment predicted = Oracles.predict(BERT, plan, costModel);
    assertEquals(json.get("objective").get("value").asDouble(), predicted.stepSeconds());
    assertMemory(json.get("plan").get("stages"), predicted.memory());
    assertAgree(json, Oracles.evaluate(BERT.withCostModel(costModel), plan));
  }

  static Stream<String> schedules() {
    return Schedules.names().stream();
  }

  @ParameterizedTest
  @MethodSource("schedules")
  void runsSchedulesAsTheCommandLineDoes(String name) {
    JsonNode json = Cli.schedule(name, 4, 16, "--json", "--times", "2,3,1,0.5").ends(0).json();
    PassTimes times = new PassTimes(2, 3, 1, 0.5);
    SimulatedSchedule run = Simulator.run(Schedules.make(name, 4, 16, times), times);
    assertEquals(json.get("makespan").asDouble(), run.makespan());
    assertEquals(json.get("idle_share").asDouble(), run.idleShare());
    List<Double> peaks = new ArrayList<>();
    json.get("peak_activations").forEach(peak -> peaks.add(peak.asDouble()));
    assertEquals(peaks, run.peakActivations());
  }

  @Test
  void runsAStragglerAsTheCommandLineDoes() {
    PipelinePlan plan = Planners.plan(BERT.withStages(4), "dapple").plan();
    Path out = folder.resolve("four");
    command(
            "plan bert-48 --cluster dapple-a --global-batch 64 --stages 4 --planner dapple --out "
                + out)
        .ends(0);
    JsonNode json = command("simulate " + out.resolve("plan.json") + " --slow 1:1.5 --json").json();
    assertStep(json.get("simulated"), Simulator.run(BERT, plan, 1, 1.5, 1, 1));
    JsonNode slow = Cli.schedule("1f1b", 4, 8, "--slow", "1:1.5", "--json").ends(0).json();
    SimulatedSchedule run =
        Simulator.run(Schedules.make("1f1b", 4, 8), PassTimes.USUAL, 1, 1.5, 1, 1);
    assertEquals(slow.get("makespan").asDouble(), run.makespan());
  }

  static Stream<Arguments> mistakes() {
    String bert = "plan bert-48 --cluster dapple-a --global-batch ";
    return Stream.of(
        mistake("plan brt-48 --cluster dapple-a --global-batch 64", () -> of("brt-48", "dapple-a")),
        mistake("plan no.txt --cluster dapple-a --global-batch 64", () -> of("no.txt", "dapple-a")),
        mistake(
            "plan bert-48 --cluster dapple-x --global-batch 64", () -> of("bert-48", "dapple-x")),
        mistake("plan bert-48 --cluster 12xH100 --global-batch 64", () -> of("bert-48", "12xH100")),
        mistake("plan bert-48 --cluster no.yaml --global-batch 64", () -> of("bert-48", "no.yaml")),
        mistake(bert + "0", () -> Problem.of("bert-48", "dapple-a", 0)),
        mistake(bert + "2000000", () -> Problem.of("bert-48", "dapple-a", 2_000_000)),
        mistake(bert + "64 --micro-batch 3", () -> BERT.withMicroBatch(3)),
        mistake(bert + "64 --micro-batch 0", () -> BERT.withMicroBatch(0)),
        mistake(bert + "64 --stages 0", () -> BERT.withStages(0)),
        mistake(bert + "64 --stages 17", () -> Planners.plan(BERT.withStages(17))),
        mistake(bert + "64 --stages 99", () -> Planners.plan(BERT.withStages(99))),
        mistake(
            bert + "64 --stages 2 --planner data", () -> Planners.plan(BERT.withStages(2), "data")),
        mistake(bert + "64 --precision fp64", () -> BERT.withPrecision("fp64")),
        mistake(bert + "64 --precision bf16", () -> Planners.plan(BERT.withPrecision("bf16"))),
        mistake(bert + "64 --optimizer adamw", () -> BERT.withOptimizer("adamw")),
        mistake(bert + "64 --memory much", () -> BERT.withMemory("much")),
        mistake(bert + "64 --memory-reserve 1.5", () -> BERT.withMemoryReserve(1.5)),
        mistake(bert + "64 --recompute some", () -> BERT.withRecompute("some")),
        mistake(bert + "64 --cost-model daple", () -> BERT.withCostModel("daple")),
        mistake(bert + "64 --planner dappel", () -> Planners.plan(BERT, "dappel")),
        mistake(
            bert + "64 --cost-model dapple-published",
            () -> Planners.plan(BERT.withCostModel("dapple-published"))),
        mistake(bert + "64 --schedule zb-h3", () -> Planners.plan(BERT.withSchedule("zb-h3"))),
        mistake(
            bert + "64 --planner alpa --schedule zb-h1",
            () -> Planners.plan(BERT.withSchedule("zb-h1"), "alpa")),
        mistake("schedule zb-h3 --stages 4 --micro-batches 8", () -> Schedules.make("zb-h3", 4, 8)),
        mistake("schedule 1f1b --stages 0 --micro-batches 8", () -> Schedules.make("1f1b", 0, 8)),
        mistake(
            "schedule 1f1b --stages 4 --micro-batches 8 --chunks 2",
            () -> Schedules.make("1f1b", 4, 8, 2)),
        mistake(
            "schedule dualpipe --stages 3 --micro-batches 9",
            () -> Schedules.make("dualpipe", 3, 9)),
        mistake(
            "schedule 1f1b --stages 4096 --micro-batches 4096",
            () -> Schedules.make("1f1b", 4096, 4096)));
  }

  private static Problem of(String network, String cluster) {
    return Problem.of(network, cluster, 64);
  }

  private static Arguments mistake(String command, Supplier<Object> library) {
    Executable asked = library::get;
    return arguments(command, asked);
  }

  @ParameterizedTest
  @MethodSource("mistakes")
  void refusesMistakesWithTheSameSentence(String command, Executable library) {
    assertEquals(
        command(command).refusal(2),
        assertThrows(IllegalArgumentException.class, library).getMessage());
  }

  @Test
  void refusesAPlanForAnotherProblem() {
    PipelinePlan plan = Planners.plan(BERT, "data").plan();
    Path out = folder.resolve("other");
    command("plan bert-48 --cluster dapple-a --global-batch 64 --planner data --out " + out)
        .ends(0);
    String file = out.resolve("plan.json").toString();
    for (String network : List.of("bert-48", "vgg-19")) {
      int batch = network.equals("bert-48") ? 32 : 64;
      String refusal =
          Cli.plan(network, "dapple-a", "--global-batch", "" + batch, "--evaluate", file)
              .refusal(2);
      Problem other = Problem.of(network, "dapple-a", batch);
      assertEquals(
          refusal.replace(file, "plan"),
          assertThrows(IllegalArgumentException.class, () -> Oracles.predict(other, plan))
              .getMessage());
    }
  }
}
