package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.app.cli.given.GivenFile;
import dev.pipewright.app.cli.given.GivenStep;
import dev.pipewright.app.cli.given.PlanArgument;
import dev.pipewright.app.cli.train.TrainingStages;
import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.CostModel;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.AsyncPipeline;
import dev.pipewright.predict.run.RunPrediction;
import dev.pipewright.zoo.Models;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** Whatever planners write of stages, {@code train} reads. */
class TrainingStagesTest {
  @TempDir private Path folder = Path.of("");

  private TrainingStages planned(String model, String planner, String... more) {
    String[] line = {"plan", model, "--planner", planner, "--cluster", "dapple-a:1x4"};
    String[] all = {"--global-batch", "64", "--out", folder.toString()};
    Cli.run(
        java.util.stream.Stream.of(line, all, more)
            .flatMap(java.util.Arrays::stream)
            .toArray(String[]::new));
    return TrainingStages.of(folder.resolve("plan.json"));
  }

  private static LayerGraph graph(String model) {
    return Models.find(model).orElseThrow().graph();
  }

  /** Each device is a worker of its own stage. */
  private static void everyDeviceWorks(TrainingStages plan, Assignment assignment) {
    assertEquals(plan.devices().size(), assignment.size());
    assertEquals(plan.layers(), assignment.stages().getLast().range().last() + 1);
    assertEquals(
        IntStream.range(0, assignment.size()).boxed().toList(),
        plan.devices().stream().sorted().toList());
  }

  @ParameterizedTest
  @ValueSource(strings = {"pipedream", "pipedream-2bw"})
  void stepsThatFlow(String planner) {
    TrainingStages plan = planned("mlp-8x1024", planner);
    Assignment assignment = plan.assignment(graph("mlp-8x1024"));
    everyDeviceWorks(plan, assignment);
    AsyncPipeline asyncPipeline = assignment.asyncPipeline().orElseThrow();
    assertEquals(planner, asyncPipeline.name());
    assertEquals(64, assignment.batch());
    assertTrue(asyncPipeline instanceof AsyncPipeline.PipeDream || assignment.steps() == 1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"mlp-8x1024", "gpt-8x256"})
  void stagesThatDivideTensors(String model) {
    TrainingStages plan = planned(model, "capture", "--micro-batch", "16");
    Assignment assignment = plan.assignment(graph(model));
    everyDeviceWorks(plan, assignment);
    Kind kind = model.startsWith("gpt") ? Kind.TENSOR : Kind.FILTER;
    List<Parallelism> splits = assignment.stages().stream().map(stage -> stage.split()).toList();
    assertTrue(splits.stream().anyMatch(Parallelism::several), splits.toString());
    splits.forEach(split -> assertTrue(!split.several() || split.kind() == kind));
  }

  /** Of a plan of stages that divide tensors the planner and training say the same. */
  @ParameterizedTest
  @ValueSource(strings = {"vgg-16", "bert-base", "gpt-untied:layers=4,vocabulary=8192"})
  void stagesThatDivideTensorsHoldAndTakeWhatWasPlanned(String model) {
    TrainingStages plan = planned(model, "capture", "--micro-batch", "4", "--stages", "2");
    PlanArgument argument = new PlanArgument();
    new CommandLine(argument).parseArgs(folder.resolve("plan.json").toString());
    GivenStep given = (GivenStep) GivenFile.of(argument);
    Assessment priced = CostModel.PIPEWRIGHT.oracle(given.costed().costs()).assess(given.plan());
    assertTrue(given.plan().dividesLayers());
    RunPrediction expected =
        new RunPrediction(given.costed().costs(), plan.assignment(graph(model)), plan.devices());
    double peak = Arrays.stream(expected.peakBytes()).max().orElseThrow();
    assertEquals(priced.peakBytes(), peak, 1e-9 * peak);
    assertEquals(
        priced.stepSeconds(), expected.simulatedStepSeconds(), 1e-3 * priced.stepSeconds());
  }

  /** A step is as many of its mini-batches as are in flight. */
  @Test
  void patternsThatRepeat() {
    TrainingStages plan = planned("mlp-8x1024", "madpipe");
    Assignment assignment = plan.assignment(graph("mlp-8x1024"));
    everyDeviceWorks(plan, assignment);
    AsyncPipeline.Repeated asyncPipeline =
        (AsyncPipeline.Repeated) assignment.asyncPipeline().orElseThrow();
    assertEquals(64 * asyncPipeline.microBatches(), assignment.batch());
    assertEquals(1, assignment.steps());
  }

  private String pattern(String ops) throws IOException {
    Path file = folder.resolve("pattern.json");
    Files.writeString(
        file,
        """
        {"schedule": "1f1b-star", "micro_batch": 4, "period_s": 4, "batches": 1,
         "stages": [{"layers": [0, 2], "devices": [3]}, {"layers": [3, 5], "devices": [1]},
                    {"layers": [6, 8], "devices": [3]}],
         "pattern": [%s, ["SF", 0, 1, 0], ["SF", 1, 2, 0], ["SB", 1, 0, -1], ["SB", 0, 1, -1]]}
        """
            .formatted(ops));
    return file.toString();
  }

  /** What the planner does only where it has to: the chain's both ends on one device. */
  @Test
  void severalStagesOnADevice() throws IOException {
    String ops =
        """
        ["F", 0, 0, 0], ["F", 1, 1, 0], ["F", 2, 2, 0],
        ["B", 2, 3, 0], ["B", 1, 0, -1], ["B", 0, 1, -1]\
        """;
    TrainingStages plan = TrainingStages.of(Path.of(pattern(ops)));
    assertEquals(List.of(3, 1), plan.devices());
    Assignment assignment = plan.assignment(graph("mlp-8x1024"));
    assertEquals(2, assignment.size());
    assertEquals(8, assignment.batch());
    assertEquals(List.of(0), assignment.holders(2));
  }

  @Test
  void opsThatWaitForEachOtherAreRefused() throws IOException {
    String ops =
        """
        ["F", 0, 0, 0], ["F", 1, 1, 0], ["F", 2, 3, 0],
        ["B", 2, 2, 0], ["B", 1, 0, -1], ["B", 0, 1, -1]\
        """;
    TrainingStages plan = TrainingStages.of(Path.of(pattern(ops)));
    var mistake = assertThrows(BadInputException.class, () -> plan.assignment(graph("mlp-8x1024")));
    assertTrue(String.valueOf(mistake.getMessage()).contains("wait for each other in a circle"));
  }

  @Test
  void whatHasNoStepsIsRefused() throws IOException {
    Path graph = folder.resolve("graph.json");
    Files.writeString(
        graph,
        """
        {"maxSizePerFPGA": 100, "maxFPGAs": 1, "maxCPUs": 0,
         "nodes": [{"id": 1, "supportedOnFpga": 1, "cpuLatency": 2, "fpgaLatency": 1,
                    "isBackwardNode": 0, "size": 1}],
         "edges": []}
        """);
    Cli.run(
        "plan",
        graph.toString(),
        "--planner",
        "placement",
        "--out",
        folder.resolve("p").toString());
    Path plan = folder.resolve("p").resolve("plan.json");
    assertTrue(Files.exists(plan));
    var mistake = assertThrows(BadInputException.class, () -> TrainingStages.of(plan));
    assertTrue(String.valueOf(mistake.getMessage()).contains("places operators"));
  }
}
