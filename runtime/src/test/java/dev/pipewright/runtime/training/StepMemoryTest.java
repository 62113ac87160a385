package dev.pipewright.runtime.training;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.execution.TrainingOutcome;
import dev.pipewright.execution.TrainingRequest;
import dev.pipewright.execution.TrainingRequest.Execution;
import dev.pipewright.execution.TrainingRequest.Keeping;
import dev.pipewright.execution.TrainingRequest.Learning;
import dev.pipewright.execution.TrainingRequest.Workers;
import dev.pipewright.execution.UpdateRule;
import dev.pipewright.model.Optimizer;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.tensor.Torch;
import dev.pipewright.schedule.OneForwardOneBackward;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Memory is bounded, not compared: what a system counts is never exact. */
class StepMemoryTest {
  private static final String MODEL = "mlp:layers=2,hidden=1536,in=1536,classes=4";
  private static final double PARAMETERS = 4.0 * (2 * 1536 * 1537 + 4 * 1537);
  private static final double SLACK = 1 << 20; // nothing of Java's, which is interpreted here

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
        OptionalInt.empty(),
        whole,
        new Learning(UpdateRule.usual(Optimizer.MOMENTUM), "synthetic", 1, Runs.SEED),
        Execution.usual(workers),
        Keeping.NOTHING);
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

  /** The later half is what {@link StepAssembly#typical} takes times from. */
  @Test
  void stepsWhoseDurationCountsAreLeftAlone() {
    assertEquals(
        List.of(5L, 6L, 7L, 8L, 9L, 10L, 11L, 12L, 13L, 14L), close(StepMemory.ofFlow(5, 21)));
    assertEquals(32, close(StepMemory.ofFlow(0, 1000)).size());
    assertEquals(List.of(1L, 2L, 3L), close(StepMemory.ofRun(0, 20)));
    assertEquals(List.of(7L), close(StepMemory.ofFlow(7, 1)));
    assertEquals(List.of(7L), close(StepMemory.ofRun(7, 8)));
  }

  private static List<Long> close(StepMemory memory) {
    return LongStream.range(0, 2000).filter(memory::looksCloselyAt).boxed().toList();
  }

  /** Room for messages and sums is there before anything is written into it. */
  @Test
  void whatNobodyHasWrittenTakesNoMemory() {
    Torch.start(1);
    long elements = 32L << 20;
    try (Scope scope = new Scope()) {
      long before = ProcessMemory.now();
      Tensor room = Tensor.empty(elements);
      long made = ProcessMemory.now();
      room.zeroInPlace();
      long written = ProcessMemory.now();
      assertTrue(made - before < elements, "made: " + (made - before));
      assertTrue(written - before >= 3 * elements, "written: " + (written - before));
    }
  }
}
