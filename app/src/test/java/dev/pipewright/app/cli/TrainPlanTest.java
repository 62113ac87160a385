package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.formats.BadInputException;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Flow;
import dev.pipewright.plan.Split;
import dev.pipewright.plan.Split.Kind;
import dev.pipewright.zoo.Models;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever planners write of stages, {@code train} reads. */
class TrainPlanTest {
  @TempDir private Path folder = Path.of("");

  private TrainPlan planned(String model, String planner, String... more) {
    String[] line = {"plan", model, "--planner", planner, "--cluster", "dapple-a:1x4"};
    String[] all = {"--global-batch", "64", "--out", folder.toString()};
    Cli.run(
        java.util.stream.Stream.of(line, all, more)
            .flatMap(java.util.Arrays::stream)
            .toArray(String[]::new));
    return TrainPlan.of(folder.resolve("plan.json"));
  }

  private static LayerGraph graph(String model) {
    return Models.find(model).orElseThrow().graph();
  }

  /** Each device is a worker of its own stage. */
  private static void everyDeviceWorks(TrainPlan plan, Assignment assignment) {
    assertEquals(plan.devices().size(), assignment.size());
    assertEquals(plan.layers(), assignment.stages().getLast().range().last() + 1);
    assertEquals(
        IntStream.range(0, assignment.size()).boxed().toList(),
        plan.devices().stream().sorted().toList());
  }

  @ParameterizedTest
  @ValueSource(strings = {"pipedream", "pipedream-2bw"})
  void stepsThatFlow(String planner) {
    TrainPlan plan = planned("mlp-8x1024", planner);
    Assignment assignment = plan.assignment(graph("mlp-8x1024"));
    everyDeviceWorks(plan, assignment);
    Flow flow = assignment.flow().orElseThrow();
    assertEquals(planner, flow.name());
    assertEquals(64, assignment.batch());
    assertTrue(flow instanceof Flow.PipeDream || assignment.steps() == 1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"mlp-8x1024", "gpt-8x256"})
  void stagesThatDivideTensors(String model) {
    TrainPlan plan = planned(model, "capture", "--micro-batch", "16");
    Assignment assignment = plan.assignment(graph(model));
    everyDeviceWorks(plan, assignment);
    Kind kind = model.startsWith("gpt") ? Kind.TENSOR : Kind.FILTER;
    List<Split> splits = assignment.stages().stream().map(stage -> stage.split()).toList();
    assertTrue(splits.stream().anyMatch(Split::several), splits.toString());
    splits.forEach(split -> assertTrue(!split.several() || split.kind() == kind));
  }

  @Test
  void whatHasNoStagesIsRefused() {
    BadInputException mistake =
        assertThrows(BadInputException.class, () -> planned("mlp-8x1024", "madpipe"));
    assertTrue(String.valueOf(mistake.getMessage()).contains("never flushes"));
  }
}
