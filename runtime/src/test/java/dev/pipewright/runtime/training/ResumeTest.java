package dev.pipewright.runtime.training;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.execution.StepResult;
import dev.pipewright.execution.TrainingListener;
import dev.pipewright.execution.TrainingOutcome;
import dev.pipewright.execution.TrainingRequest.Workers;
import dev.pipewright.model.Optimizer;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.schedule.Chimera;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.ZeroBubbleH1;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

/** Runs that end and go on. */
class ResumeTest {
  @TempDir private Path folder;

  private static Assignment assignment(String name) {
    return switch (name) {
      case "one worker" -> Runs.stages(OneForwardOneBackward.of(1, 1), List.of(1), 0);
      case "three replicas" -> Runs.stages(OneForwardOneBackward.of(1, 2), List.of(3), 0);
      case "three stages" -> Runs.stages(OneForwardOneBackward.of(3, 4), List.of(1, 1, 1), 0, 2, 3);
      case "two halves of gradients" -> Runs.stages(ZeroBubbleH1.of(2, 3), List.of(1, 1), 0, 3);
      case "two directions" -> Runs.stages(Chimera.of(2, 2), List.of(1, 1), 0, 2);
      default -> throw new IllegalArgumentException(name);
    };
  }

  /** The same network, cut anew and with other numbers of workers, with the same samples. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "one worker",
        "three replicas",
        "three stages",
        "two halves of gradients",
        "two directions"
      })
  void anotherPlanGoesOnToTheSameParameters(String plan) {
    Runs.hybrid(Workers.THREADS, 8, 8).run(folder.resolve("whole"));
    Runs.hybrid(Workers.THREADS, 4, 4).run(folder.resolve("begun"));
    Runs.hybrid(Workers.THREADS, 8, 8)
        .with(assignment(plan))
        .resume(folder.resolve("begun"), folder.resolve("ended"));
    Runs.near(Runs.state(folder.resolve("whole")), Runs.state(folder.resolve("ended")), 1e-6, 1e-9);
    assertEquals(80, Runs.manifest(folder.resolve("ended")).samples());
  }

  /**
   * A checkpoint of a version whose worker held the table of embedding and head twice, after three
   * steps of GPT.
   */
  @ParameterizedTest(name = "{0} stages")
  @ValueSource(ints = {1, 2})
  void aCheckpointOfTwoEqualTablesGoesOn(int stages) {
    String model = "gpt:layers=1,hidden=8,heads=1,sequence=4,vocabulary=16"; // three layers
    List<StageLayers> layers =
        stages == 1
            ? List.of(StageLayers.keeping(0, 2))
            : List.of(StageLayers.keeping(0, 0), StageLayers.keeping(1, 2));
    List<Integer> workers = Collections.nCopies(stages, 1);
    Schedule schedule = OneForwardOneBackward.of(stages, 1);
    Assignment assignment = new Assignment(schedule, layers, workers, Runs.BATCH, false);
    Runs runs = new Runs(model, assignment, Optimizer.MOMENTUM, Workers.THREADS, 6, 6);
    runs.run(folder.resolve("whole"));
    runs.resume(Path.of("src/test/resources/two-tables"), folder.resolve("ended"));
    Runs.near(Runs.state(folder.resolve("whole")), Runs.state(folder.resolve("ended")), 1e-6, 1e-7);
  }

  /** Whoever listens wants no more after some step; what is shown so far is whole. */
  @ParameterizedTest
  @EnumSource(Workers.class)
  void aRunThatIsToEndEarlyEndsWithOneStepAndACheckpoint(Workers workers) throws IOException {
    Runs endless = Runs.hybrid(workers, 1_000_000, 1_000_000);
    TrainingOutcome outcome = endless.run(folder, stoppingAfter(3));
    int made = outcome.steps().size();
    assertTrue(outcome.stopped());
    assertTrue(made >= 4, "steps: " + made);
    assertEquals(made, Runs.manifest(folder).step());
    assertEquals(List.of(Runs.last(folder).toString()), outcome.checkpoint().stream().toList());
    assertEquals(made, Files.readAllLines(folder.resolve("metrics.jsonl")).size());
    Runs.hybrid(Workers.THREADS, made, made).run(folder.resolve("planned"));
    sameBits(Runs.state(folder.resolve("planned")), Runs.state(folder));
  }

  private static TrainingListener stoppingAfter(long last) {
    return new TrainingListener() {
      private volatile boolean enough;

      @Override
      public void stepped(StepResult step) {
        enough |= step.step() >= last;
      }

      @Override
      public boolean stopping() {
        return enough;
      }
    };
  }

  private static void sameBits(Map<String, float[]> expected, Map<String, float[]> found) {
    assertEquals(expected.keySet(), found.keySet());
    expected.forEach((name, values) -> assertArrayEquals(values, found.get(name), name));
  }

  /** Its lines follow those before; every step is there once, with what there is to know of it. */
  @Test
  void metricsGoOnWhereTheyEnded() throws IOException {
    Runs.hybrid(Workers.THREADS, 4, 2).run(folder);
    Runs.hybrid(Workers.THREADS, 6, 2).resume(folder, folder);
    List<String> lines = Files.readAllLines(folder.resolve("metrics.jsonl"));
    assertEquals(6, lines.size());
    for (int i = 0; i < 6; i++) {
      var line = new JsonMapper().readTree(lines.get(i));
      assertEquals(i + 1, line.get("step").asInt());
      assertEquals(10 * (i + 1), line.get("samples").asInt());
      for (String name : List.of("loss", "step_s", "samples_per_s", "idle_share")) {
        assertTrue(line.get(name).isNumber(), name);
      }
    }
    try (var events = Files.list(folder.resolve("tensorboard"))) {
      assertEquals(2, events.count());
    }
  }

  /** Two are kept, and the last one is that of the end. */
  @Test
  void onlyTheLastCheckpointsAreKept() throws IOException {
    Runs.hybrid(Workers.THREADS, 7, 2).run(folder);
    try (var all = Files.list(folder.resolve("checkpoints"))) {
      assertEquals(
          List.of("step-000006", "step-000007"),
          all.map(path -> path.getFileName().toString()).sorted().toList());
    }
  }
}
