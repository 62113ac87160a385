package dev.pipewright.runtime.training;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.pipewright.execution.TrainingRequest.Workers;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.model.Optimizer;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.Schedule;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Whole runs of workers that compute layers together. */
class ParallelismRunsTest {
  @TempDir private Path folder;

  /**
   * Two stages of {@link Runs#MODEL}, the first split in two with replicas, the second in three.
   */
  private static Assignment split(Kind first, Kind second, int replicas) {
    Schedule schedule = OneForwardOneBackward.of(2, 2);
    Assignment whole = Runs.stages(schedule, List.of(1, 1), 0, 2);
    List<StageLayers> stages = new ArrayList<>();
    stages.add(whole.stages().get(0).with(Parallelism.of(first, 2)));
    stages.add(whole.stages().get(1).with(Parallelism.of(second, 3)));
    return new Assignment(schedule, stages, List.of(2 * replicas, 3), Runs.BATCH, true);
  }

  private static Runs runs(Workers workers, int steps, int every) {
    Assignment alone = Runs.stages(OneForwardOneBackward.of(1, 2), List.of(1), 0);
    return new Runs(Runs.MODEL, alone, Optimizer.ADAM, workers, steps, every);
  }

  /** Parameters and what the optimizer remembers of them are put together for the checkpoint. */
  @ParameterizedTest
  @EnumSource(Workers.class)
  void endWhereOneWorkerEnds(Workers workers) {
    runs(Workers.THREADS, 4, 4).run(folder.resolve("alone"));
    runs(workers, 4, 4).with(split(Kind.FILTER, Kind.CHANNEL, 1)).run(folder.resolve("split"));
    Runs.near(Runs.state(folder.resolve("alone")), Runs.state(folder.resolve("split")), 1e-5, 1e-7);
  }

  @Test
  void goOnWithAnotherSplitAndWithout() {
    runs(Workers.THREADS, 6, 6).run(folder.resolve("whole"));
    runs(Workers.THREADS, 2, 2)
        .with(split(Kind.CHANNEL, Kind.FILTER, 2))
        .run(folder.resolve("begun"));
    runs(Workers.THREADS, 4, 4)
        .with(split(Kind.FILTER, Kind.FILTER, 1))
        .resume(folder.resolve("begun"), folder.resolve("gone on"));
    runs(Workers.THREADS, 6, 6).resume(folder.resolve("gone on"), folder.resolve("ended"));
    Runs.near(Runs.state(folder.resolve("whole")), Runs.state(folder.resolve("ended")), 1e-5, 1e-7);
  }

  @Test
  void aLayerThatCannotBeSplitSoFarIsNamedBeforeTheStart() {
    Assignment whole = Runs.stages(OneForwardOneBackward.of(1, 1), List.of(1), 0);
    StageLayers stage = whole.stages().get(0).with(Parallelism.of(Kind.FILTER, 5));
    Assignment five =
        new Assignment(whole.schedule(), List.of(stage), List.of(5), Runs.BATCH, false);
    Runs runs = runs(Workers.THREADS, 2, 2).with(five);
    BadInputException mistake =
        assertThrows(
            BadInputException.class,
            () -> new Trainer().train(runs.request(folder, Optional.empty()), step -> {}));
    assertEquals(
        "--tensor-parallel: layer classifier of mlp:layers=3,hidden=16,in=12,classes=4 has 4 filters and"
            + " cannot be split in 5; take 4 parts or fewer",
        mistake.getMessage());
  }
}
