package dev.pipewright.execution;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.execution.TrainingRequest.Computing;
import dev.pipewright.execution.TrainingRequest.Device;
import dev.pipewright.execution.TrainingRequest.Execution;
import dev.pipewright.execution.TrainingRequest.Keeping;
import dev.pipewright.execution.TrainingRequest.Learning;
import dev.pipewright.execution.TrainingRequest.Machines;
import dev.pipewright.execution.TrainingRequest.Workers;
import dev.pipewright.model.Optimizer;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.schedule.OneForwardOneBackward;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

/** A request like another one differs in what is named, and in nothing else. */
class TrainingRequestTest {
  private static final Machines TWO_ELSEWHERE = new Machines(2, 7000, Machines.USUAL_PATIENCE);
  private static final Learning LEARNING =
      new Learning(UpdateRule.usual(Optimizer.ADAM), true, "synthetic:images", 7, 5, 3);
  private static final Execution EXECUTION =
      new Execution(
          Workers.PROCESSES,
          new Computing(Device.CPU, 2, false),
          TWO_ELSEWHERE,
          true,
          Optional.empty());
  private static final Keeping KEEPING =
      new Keeping(Optional.of("runs"), 4, 2, Optional.of("before"));
  private static final Assignment THREE = workers(3);
  private static final TrainingRequest REQUEST =
      new TrainingRequest("mlp", OptionalInt.of(16), THREE, LEARNING, EXECUTION, KEEPING);

  private static Assignment workers(int count) {
    return new Assignment(
        OneForwardOneBackward.of(1, 2),
        List.of(StageLayers.keeping(0, 3)),
        List.of(count),
        12,
        false);
  }

  private static TrainingRequest with(Learning learning, Execution execution) {
    return new TrainingRequest("mlp", OptionalInt.of(16), THREE, learning, execution, KEEPING);
  }

  @Test
  void otherMachinesAreAllThatChangesOnThem() {
    Execution other =
        new Execution(
            Workers.PROCESSES,
            new Computing(Device.CPU, 2, false),
            Machines.THIS_ONE,
            true,
            Optional.empty());
    assertEquals(with(LEARNING, other), REQUEST.on(Machines.THIS_ONE));
  }

  @Test
  void anEmulationIsAllThatChangesWithIt() {
    Emulation times = new Emulation(List.of());
    Execution other =
        new Execution(
            Workers.PROCESSES,
            new Computing(Device.CPU, 2, false),
            TWO_ELSEWHERE,
            true,
            Optional.of(times));
    assertEquals(with(LEARNING, other), REQUEST.emulating(times));
    assertTrue(REQUEST.emulating(times).emulates());
    assertFalse(REQUEST.emulates());
  }

  @Test
  void aFrugalRunIsShorterAndReturnsFreedMemory() {
    Learning shorter =
        new Learning(UpdateRule.usual(Optimizer.ADAM), true, "synthetic:images", 2, 5, 3);
    Execution other =
        new Execution(
            Workers.PROCESSES,
            new Computing(Device.CPU, 2, true),
            TWO_ELSEWHERE,
            true,
            Optional.empty());
    assertEquals(with(shorter, other), REQUEST.frugal(2));
  }

  @Test
  void aSmallerPlanHasFewerWorkersElsewhere() {
    TrainingRequest other = REQUEST.with(workers(1));
    assertEquals(workers(1).workers(), other.assignment().workers());
    assertEquals(1, other.execution().machines().elsewhere());
    assertEquals(LEARNING, other.learning());
    assertEquals(KEEPING, other.keeping());
    assertEquals(EXECUTION.on(TWO_ELSEWHERE.withElsewhere(1)), other.execution());
    assertEquals(TWO_ELSEWHERE, REQUEST.with(workers(4)).execution().machines());
  }

  @Test
  void whatIsKeptIsAllThatChangesWithIt() {
    assertEquals(
        new TrainingRequest("mlp", OptionalInt.of(16), THREE, LEARNING, EXECUTION, Keeping.NOTHING),
        REQUEST.keeping(Keeping.NOTHING));
  }

  @Test
  void learningWithoutHeldOutSamplesGetsThem() {
    Learning plain = new Learning(LEARNING.rule(), "synthetic", 7, 5);
    assertEquals(new Learning(LEARNING.rule(), false, "synthetic", 7, 5, 0), plain);
    assertEquals(
        new Learning(LEARNING.rule(), false, "synthetic", 7, 5, 2), plain.evaluatingEvery(2));
  }

  @Test
  void mistakesAreNamed() {
    assertEquals("training takes a step or more: steps=0", mistake(() -> LEARNING.withSteps(0)));
    assertEquals(
        "held-out samples are answered every so many steps: every=-1",
        mistake(() -> LEARNING.evaluatingEvery(-1)));
    assertEquals(
        "a process uses one GPU, so workers are processes: workers=THREADS",
        mistake(() ->
            new Execution(
                Workers.THREADS, new Computing(Device.CUDA, 1, false), Machines.THIS_ONE)));
    assertEquals(
        "some of the workers run elsewhere: workers=3, elsewhere=4",
        mistake(() -> REQUEST.on(TWO_ELSEWHERE.withElsewhere(4))));
  }

  private static String mistake(Runnable made) {
    return String.valueOf(assertThrows(IllegalArgumentException.class, made::run).getMessage());
  }
}
