package dev.pipewright.runtime.training;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.execution.TrainingFailureException;
import dev.pipewright.execution.TrainingRequest.Machines;
import dev.pipewright.execution.TrainingRequest.Workers;
import dev.pipewright.model.Optimizer;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.AsyncPipeline;
import dev.pipewright.schedule.GPipe;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.units.Seconds;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A worker that the system stops ends the run as one that dies does. */
class StallTest {
  private static final int STEPS = 6;
  private static final int EVERY = 2;

  private static Assignment assignment(String schedule) {
    return switch (schedule) {
      case "gpipe" -> Runs.stages(GPipe.of(2, 2), List.of(1, 1), 0, 2);
      case "1f1b" -> Runs.stages(OneForwardOneBackward.of(2, 2), List.of(1, 1), 0, 2);
      case "pipedream" ->
          Assignment.of(
              new AsyncPipeline.PipeDream(List.of(1, 1), false),
              List.of(StageLayers.keeping(0, 1), StageLayers.keeping(2, 4)),
              List.of(1, 1),
              Runs.BATCH);
      default -> throw new IllegalArgumentException(schedule);
    };
  }

  @ParameterizedTest
  @ValueSource(strings = {"gpipe", "1f1b", "pipedream"})
  void aStoppedWorkerIsNamedAndWhatWasKeptIsWhole(String schedule, @TempDir Path folder) {
    Runs runs =
        new Runs(Runs.MODEL, assignment(schedule), Optimizer.ADAM, Workers.PROCESSES, STEPS, EVERY);
    Machines impatient = new Machines(0, 0, new Seconds(4));
    Trainer trainer =
        new Trainer(
            StoppedTask.class, StoppedTask::new, job -> KilledTask.communication(1, 16, job));
    TrainingFailureException failure =
        assertThrows(
            TrainingFailureException.class,
            () -> trainer.train(runs.request(folder, Optional.empty(), impatient), step -> {}));
    assertTrue(
        Objects.toString(failure.getMessage())
            .matches(
                "worker 1 \\(stage 1, (forward of micro-batch \\d|backward of micro-batch \\d|update)"
                    + " in step \\d\\) has not answered for \\d+ s: it has been stopped, or is cut"
                    + " off; all others have been stopped"),
        failure::getMessage);
    assertEquals(2, Runs.manifest(folder).step()); // which also verifies it
  }

  @Test
  void eachWorkerIsKnownByItsStagesBeforeItsFirstOperation() {
    assertEquals(
        List.of("stage 0", "stage 0", "stage 1"),
        Trainer.roles(Runs.hybrid(Workers.PROCESSES, 1, 0).assignment()));
  }
}
