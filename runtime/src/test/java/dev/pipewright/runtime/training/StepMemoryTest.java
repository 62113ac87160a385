package dev.pipewright.runtime.training;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.execution.TrainingOutcome;
import dev.pipewright.execution.TrainingRequest;
import dev.pipewright.execution.TrainingRequest.Computing;
import dev.pipewright.execution.TrainingRequest.Keeping;
import dev.pipewright.execution.TrainingRequest.Machines;
import dev.pipewright.execution.TrainingRequest.UpdateRule;
import dev.pipewright.execution.TrainingRequest.Workers;
import dev.pipewright.model.Optimizer;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.schedule.OneForwardOneBackward;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Memory is bounded, not compared: what a system counts is never exact. */
class StepMemoryTest {
  private static final String MODEL = "mlp:layers=2,hidden=1536,in=1536,classes=4";
  private static final double PARAMETERS = 4.0 * (2 * 1536 * 1537 + 4 * 1537);
  private static final double SLACK = 4 << 20;

  private static TrainingRequest request(Workers workers) {
    Assignment whole =
        new Assignment(
            OneForwardOneBackward.of(1, 2),
            List.of(StageLayers.keeping(0, 3)),
            List.of(1),
            8,
            false);
    return new TrainingRequest(
        MODEL,
        whole,
        UpdateRule.usual(Optimizer.MOMENTUM),
        false,
        "synthetic",
        1,
        Runs.SEED,
        workers,
        Computing.USUAL,
        Machines.THIS_ONE,
        Keeping.NOTHING,
        0,
        false,
        Optional.empty());
  }

  @Test
  void aStepNeedsParametersMomentsAndGradientsAndTheGradientThatIsAdded() {
    TrainingRequest request = request(Workers.PROCESSES).frugal(8);
    TrainingOutcome outcome = new Trainer().train(request, step -> {});
    double peak = outcome.workers().get(0).peakBytes();
    double added = 4.0 * 1536 * 1536;
    assertTrue(peak >= 3 * PARAMETERS + added - SLACK, "peak: " + peak);
    assertTrue(peak <= 3 * PARAMETERS + added + SLACK, "peak: " + peak);
  }

  @Test
  void aWorkerHoldsParametersAndMomentsBetweenSteps() {
    TrainingOutcome outcome = new Trainer().train(request(Workers.THREADS), step -> {});
    assertEquals(1, outcome.steps().size());
    assertTrue(outcome.workers().get(0).peakBytes() >= 2 * PARAMETERS);
  }
}
