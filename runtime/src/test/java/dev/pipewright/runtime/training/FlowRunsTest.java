package dev.pipewright.runtime.training;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.execution.Emulation;
import dev.pipewright.execution.Emulation.LayerSeconds;
import dev.pipewright.execution.TrainingOutcome;
import dev.pipewright.execution.TrainingRequest;
import dev.pipewright.execution.TrainingRequest.Workers;
import dev.pipewright.formats.BadInputException;
import dev.pipewright.model.Optimizer;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.Flow;
import dev.pipewright.runtime.Patterns;
import dev.pipewright.schedule.cyclic.Cyclic;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs whose steps flow into one another. */
class FlowRunsTest {
  @TempDir Path folder;

  private static Runs runs(Flow flow, Workers workers, int steps, int every) {
    List<StageLayers> stages = List.of(StageLayers.keeping(0, 1), StageLayers.keeping(2, 4));
    int ranks = flow.schedule(flow.round()).ranks();
    var assignment = Assignment.of(flow, stages, Collections.nCopies(ranks, 1), Runs.BATCH);
    return new Runs(Runs.MODEL, assignment, Optimizer.ADAM, workers, steps, every);
  }

  @Test
  void processesGiveWhatThreadsGive() {
    sameInProcesses(new Flow.TwoBuffers(2, 3, false));
    sameInProcesses(Patterns.dropping(2));
  }

  private void sameInProcesses(Flow flow) {
    String name = flow.name();
    Map<String, float[]> threads = state(runs(flow, Workers.THREADS, 6, 3), name + "-threads");
    Map<String, float[]> own = state(runs(flow, Workers.PROCESSES, 6, 3), name + "-processes");
    assertEquals(threads.keySet(), own.keySet());
    threads.forEach((weight, values) -> assertArrayEquals(values, own.get(weight), weight));
  }

  private Map<String, float[]> state(Runs runs, String name) {
    TrainingOutcome outcome = runs.run(folder.resolve(name));
    assertEquals(6, outcome.steps().size());
    assertTrue(outcome.workers().stream().allMatch(worker -> worker.peakBytes() > 1000));
    return Runs.state(folder.resolve(name));
  }

  @Test
  void processesHandTheOnlyCopyOn() {
    sameInProcesses(new Flow.OneAfterAnother(new Cyclic(2), Cyclic.Form.ZERO, Cyclic.Rule.V2));
  }

  /** What reads messages there would wait until computing pauses. */
  @Test
  void workersHaveNoProcessorsOfTheirOwn() {
    Flow flow = new Flow.TwoBuffers(2, 3, false);
    var flowing = runs(flow, Workers.PROCESSES, 6, 3).request(folder, Optional.empty());
    var others = Runs.hybrid(Workers.PROCESSES, 6, 3).request(folder, Optional.empty());
    assertFalse(Trainer.resources(flowing).apart());
    assertTrue(Trainer.resources(others).apart());
  }

  /** Nothing flows over a checkpoint, so that it is all there is to go on from. */
  @Test
  void goesOnFromACheckpointAsIfItHadNotStopped() {
    for (Flow flow :
        List.of(
            new Flow.PipeDream(List.of(2, 1), false),
            new Flow.TwoBuffers(2, 2, false),
            new Flow.OneAfterAnother(new Cyclic(2), Cyclic.Form.ZERO, Cyclic.Rule.V1))) {
      Path through = folder.resolve(flow.name());
      Path first = folder.resolve(flow.name() + "-first");
      Path then = folder.resolve(flow.name() + "-then");
      runs(flow, Workers.THREADS, 12, 6).run(through);
      runs(flow, Workers.THREADS, 6, 6).run(first);
      runs(flow, Workers.THREADS, 12, 6).resume(first, then);
      Map<String, float[]> expected = Runs.state(through);
      Map<String, float[]> found = Runs.state(then);
      assertEquals(expected.keySet(), found.keySet());
      expected.forEach((name, values) -> assertArrayEquals(values, found.get(name), name));
    }
  }

  private static Runs gpt(Flow flow, int steps, int every) {
    String model = "gpt:layers=2,hidden=16,heads=2,sequence=8,vocabulary=32";
    List<StageLayers> stages = List.of(StageLayers.keeping(0, 1), StageLayers.keeping(2, 3));
    int ranks = flow.schedule(flow.round()).ranks();
    var assignment = Assignment.of(flow, stages, Collections.nCopies(ranks, 1), Runs.BATCH);
    return new Runs(model, assignment, Optimizer.ADAM, Workers.PROCESSES, steps, every);
  }

  /** Both copies learn the same, also behind a checkpoint. */
  @Test
  void tablesOfTwoStagesStayTheSame() {
    Flow flow = new Flow.TwoBuffers(2, 3, false);
    gpt(flow, 6, 3).run(folder.resolve("through"));
    gpt(flow, 3, 3).run(folder.resolve("first"));
    gpt(flow, 6, 3).resume(folder.resolve("first"), folder.resolve("then"));
    Map<String, float[]> through = Runs.state(folder.resolve("through"));
    Map<String, float[]> then = Runs.state(folder.resolve("then"));
    for (String copy : List.of("embedding.weight", "head.weight")) {
      assertArrayEquals(through.get("embedding.weight"), requireNonNull(through.get(copy)));
      assertArrayEquals(through.get(copy), then.get(copy), copy);
    }
  }

  /** Nor are they emulated, as nobody could train so. */
  @Test
  void tablesOfTwoStagesWithoutPartnersAreRefused() {
    LayerSeconds each = new LayerSeconds(1e-3, 1e-3, 1e-3, 1e-3);
    Emulation emulation = new Emulation(Collections.nCopies(4, each));
    Map<Flow, String> refused =
        Map.of(
            new Flow.PipeDream(List.of(2, 1), false),
            "pipedream, which are updated after every 2 and 1 micro-batches",
            new Flow.OneAfterAnother(new Cyclic(2), Cyclic.Form.PYRAMID, Cyclic.Rule.V2),
            "cyclic-v2-pyramid, which 2 and 1 workers have",
            new Flow.OneAfterAnother(new Cyclic(2), Cyclic.Form.ZERO, Cyclic.Rule.V2),
            "cyclic-v2-zero, whose states go from worker to worker at different times");
    refused.forEach((flow, why) -> {
      TrainingRequest real = gpt(flow, 2, 0).request(folder, Optional.empty());
      for (TrainingRequest asked : List.of(real, real.emulating(emulation))) {
        var mistake =
            assertThrows(BadInputException.class, () -> new Trainer().train(asked, step -> {}));
        assertEquals(
            "--schedule: head reads the table of embedding too, in stages 0 and 1 of "
                + why
                + "; take a schedule whose steps end, or a network where they are two, like"
                + " gpt-untied:…",
            mistake.getMessage());
      }
    });
  }

  @Test
  void roundsAreNotParted() {
    Flow flow = new Flow.PipeDream(List.of(2, 1), false);
    var mistake =
        assertThrows(BadInputException.class, () -> runs(flow, Workers.THREADS, 7, 0).run(folder));
    assertEquals(
        "--steps: replicas have all had their turn after every 2 steps, not after 7; take 8",
        mistake.getMessage());
  }
}
