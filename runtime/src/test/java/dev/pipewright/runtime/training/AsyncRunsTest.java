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
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.model.Optimizer;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.AsyncPipeline;
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
class AsyncRunsTest {
  @TempDir Path folder;

  private static Runs runs(AsyncPipeline asyncPipeline, Workers workers, int steps, int every) {
    List<StageLayers> stages = List.of(StageLayers.keeping(0, 1), StageLayers.keeping(2, 4));
    int ranks = asyncPipeline.schedule(asyncPipeline.round()).ranks();
    var assignment =
        Assignment.of(asyncPipeline, stages, Collections.nCopies(ranks, 1), Runs.BATCH);
    return new Runs(Runs.MODEL, assignment, Optimizer.ADAM, workers, steps, every);
  }

  @Test
  void processesGiveWhatThreadsGive() {
    sameInProcesses(new AsyncPipeline.DoubleBuffered(2, 3, false));
    sameInProcesses(Patterns.dropping(2));
  }

  private void sameInProcesses(AsyncPipeline asyncPipeline) {
    String name = asyncPipeline.name();
    Map<String, float[]> threads =
        state(runs(asyncPipeline, Workers.THREADS, 6, 3), name + "-threads");
    Map<String, float[]> own =
        state(runs(asyncPipeline, Workers.PROCESSES, 6, 3), name + "-processes");
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
    sameInProcesses(
        new AsyncPipeline.CyclicDataParallel(new Cyclic(2), Cyclic.Form.ZERO, Cyclic.Rule.V2));
  }

  /** What reads messages there would wait until computing pauses. */
  @Test
  void workersHaveNoProcessorsOfTheirOwn() {
    AsyncPipeline asyncPipeline = new AsyncPipeline.DoubleBuffered(2, 3, false);
    var asynchronous =
        runs(asyncPipeline, Workers.PROCESSES, 6, 3).request(folder, Optional.empty());
    var others = Runs.hybrid(Workers.PROCESSES, 6, 3).request(folder, Optional.empty());
    assertFalse(Trainer.resources(asynchronous).apart());
    assertTrue(Trainer.resources(others).apart());
  }

  /** Nothing flows over a checkpoint, so that it is all there is to go on from. */
  @Test
  void goesOnFromACheckpointAsIfItHadNotStopped() {
    for (AsyncPipeline asyncPipeline :
        List.of(
            new AsyncPipeline.PipeDream(List.of(2, 1), false),
            new AsyncPipeline.DoubleBuffered(2, 2, false),
            new AsyncPipeline.CyclicDataParallel(
                new Cyclic(2), Cyclic.Form.ZERO, Cyclic.Rule.V1))) {
      Path through = folder.resolve(asyncPipeline.name());
      Path first = folder.resolve(asyncPipeline.name() + "-first");
      Path then = folder.resolve(asyncPipeline.name() + "-then");
      runs(asyncPipeline, Workers.THREADS, 12, 6).run(through);
      runs(asyncPipeline, Workers.THREADS, 6, 6).run(first);
      runs(asyncPipeline, Workers.THREADS, 12, 6).resume(first, then);
      Map<String, float[]> expected = Runs.state(through);
      Map<String, float[]> found = Runs.state(then);
      assertEquals(expected.keySet(), found.keySet());
      expected.forEach((name, values) -> assertArrayEquals(values, found.get(name), name));
    }
  }

  private static Runs gpt(AsyncPipeline asyncPipeline, int steps, int every) {
    String model = "gpt:layers=2,hidden=16,heads=2,sequence=8,vocabulary=32";
    List<StageLayers> stages = List.of(StageLayers.keeping(0, 1), StageLayers.keeping(2, 3));
    int ranks = asyncPipeline.schedule(asyncPipeline.round()).ranks();
    var assignment =
        Assignment.of(asyncPipeline, stages, Collections.nCopies(ranks, 1), Runs.BATCH);
    return new Runs(model, assignment, Optimizer.ADAM, Workers.PROCESSES, steps, every);
  }

  /** Both copies learn the same, also behind a checkpoint. */
  @Test
  void tablesOfTwoStagesStayTheSame() {
    AsyncPipeline asyncPipeline = new AsyncPipeline.DoubleBuffered(2, 3, false);
    gpt(asyncPipeline, 6, 3).run(folder.resolve("through"));
    gpt(asyncPipeline, 3, 3).run(folder.resolve("first"));
    gpt(asyncPipeline, 6, 3).resume(folder.resolve("first"), folder.resolve("then"));
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
    Map<AsyncPipeline, String> refused =
        Map.of(
            new AsyncPipeline.PipeDream(List.of(2, 1), false),
            "pipedream, which are updated after every 2 and 1 micro-batches",
            new AsyncPipeline.CyclicDataParallel(
                new Cyclic(2), Cyclic.Form.PYRAMID, Cyclic.Rule.V2),
            "cyclic-v2-pyramid, which 2 and 1 workers have",
            new AsyncPipeline.CyclicDataParallel(new Cyclic(2), Cyclic.Form.ZERO, Cyclic.Rule.V2),
            "cyclic-v2-zero, whose states go from worker to worker at different times");
    refused.forEach((asyncPipeline, why) -> {
      TrainingRequest real = gpt(asyncPipeline, 2, 0).request(folder, Optional.empty());
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
    AsyncPipeline asyncPipeline = new AsyncPipeline.PipeDream(List.of(2, 1), false);
    var mistake =
        assertThrows(
            BadInputException.class, () -> runs(asyncPipeline, Workers.THREADS, 7, 0).run(folder));
    assertEquals(
        "--steps: replicas have all had their turn after every 2 steps, not after 7; take 8",
        mistake.getMessage());
  }
}
