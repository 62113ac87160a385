package dev.pipewright.runtime.training;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.execution.HeldOutResult;
import dev.pipewright.execution.TrainingRequest;
import dev.pipewright.execution.TrainingRequest.Execution;
import dev.pipewright.execution.TrainingRequest.Keeping;
import dev.pipewright.execution.TrainingRequest.Learning;
import dev.pipewright.execution.TrainingRequest.Workers;
import dev.pipewright.execution.UpdateRule;
import dev.pipewright.model.Optimizer;
import dev.pipewright.plan.Assignment;
import dev.pipewright.schedule.Chimera;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.Schedule;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Held-out samples are answered alike, however the network is cut; learning helps. */
class HeldOutTest {
  private static List<HeldOutResult> answers(Assignment assignment) {
    String data = "synthetic:images,samples=230"; // whose 23 held-out samples fill no batch
    TrainingRequest request =
        new TrainingRequest(
            Runs.MODEL,
            OptionalInt.empty(),
            assignment,
            new Learning(UpdateRule.usual(Optimizer.ADAM), data, 90, Runs.SEED).evaluatingEvery(40),
            Execution.usual(Workers.THREADS),
            Keeping.NOTHING);
    return new Trainer().train(request, step -> {}).heldOut();
  }

  static Stream<Arguments> plans() {
    return Stream.of(
        Arguments.of(OneForwardOneBackward.of(2, 3), List.of(1, 1), new int[] {0, 2}),
        Arguments.of(OneForwardOneBackward.of(2, 2), List.of(1, 3), new int[] {0, 3}),
        Arguments.of(Chimera.of(2, 2), List.of(1, 1), new int[] {0, 2}),
        Arguments.of(OneForwardOneBackward.of(1, 1), List.of(2), new int[] {0}));
  }

  @ParameterizedTest
  @MethodSource("plans")
  void answersDoNotDependOnThePlan(Schedule schedule, List<Integer> workers, int... firsts) {
    List<HeldOutResult> alone = answers(Runs.stages(OneForwardOneBackward.of(1, 1), List.of(1), 0));
    List<HeldOutResult> cut = answers(Runs.stages(schedule, workers, firsts));
    assertEquals(List.of(39L, 79L, 89L), cut.stream().map(HeldOutResult::step).toList());
    for (int i = 0; i < cut.size(); i++) {
      assertEquals(alone.get(i).loss(), cut.get(i).loss(), 1e-3 * alone.get(i).loss());
      assertEquals(alone.get(i).correct(), cut.get(i).correct(), 1.0 / 23 + 1e-9);
    }
    assertTrue(cut.get(2).loss() < cut.get(0).loss(), cut::toString);
  }
}
