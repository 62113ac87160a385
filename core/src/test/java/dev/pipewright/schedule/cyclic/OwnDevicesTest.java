package dev.pipewright.schedule.cyclic;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.schedule.ExchangeExecution;
import dev.pipewright.schedule.Op;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Picture;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.check.Execution.At;
import dev.pipewright.schedule.cyclic.Cyclic.Form;
import dev.pipewright.schedule.cyclic.Cyclic.Rule;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToDoubleFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Workers on devices of their own that hand on sums, in a ring, or with ZeRO a stage's states. */
class OwnDevicesTest {
  private static final int MOST_WORKERS = 7;

  @Test
  void aRingHandsSumsOnBeforeBackwardPassesOneAhead() {
    assertEquals(
        """
        0 | 0H0 1H0 0F0 1F0 1H1 0H2 1B0 0B0 0F1 1F1 1H4 0H4 1B1 1U0 1H6 0B1 0U0 0H6 1U1 0U1
        1 | 0H1 1H2 0F0 1F0 1H3 0H3 1B0 0B0 0F1 1F1 1H5 0H5 1B1 1U0 0B1 0U0 1U1 0U1
        """,
        Picture.ofChains(new Cyclic(2).schedule(Form.RING, Rule.V1, 2)));
  }

  @Test
  void underTheSecondRuleTheRingBringsFreshParametersBeforeForwardPasses() {
    assertEquals(
        """
        0 | 0H0 1H0 0F0 1F0 1H1 0H2 1B0 0B0 1H4 0F1 1U0 1F1 1H5 0H4 1B1 1H7 0B1 0U0 0H6 1U1 0U1
        1 | 0H1 1H2 0F0 1F0 1H3 0H3 1B0 1U0 0B0 0U0 0F1 1F1 1H6 0H5 1B1 1U1 0B1 0U1
        """,
        Picture.ofChains(new Cyclic(2).schedule(Form.RING, Rule.V2, 2)));
  }

  @Test
  void statesAreHandedOnBeforeEveryPassAndKeptForTheUpdate() {
    assertEquals(
        """
        0 | 0H0 1H0 0F0 1F0 1H1 0H2 1B0 0B0 0H3 1H5 0F1 1F1 1H6 0H7 1B1 0B1
        1 | 0H1 1H2 0F0 1F0 1H3 1B0 1H4 0H4 1U0 0B0 0H5 0U0 0H6 1H7 0F1 1F1 1H8 1B1 1H9 0H8 1U1 0B1 0H9 0U1
        """,
        Picture.ofChains(new Cyclic(2).schedule(Form.ZERO, Rule.V2, 2)));
  }

  /** Ψ_P for each device in table 1, if an all-reduce, which sends every part twice, is one. */
  @Test
  void aRingSendsWhatAnAllReduceInARingSends() {
    for (int workers = 1; workers <= MOST_WORKERS; workers++) {
      int allReduce = 2 * (workers - 1); // times a stage's gradients, in all
      int step =
          new GradientSums(Form.RING, Rule.V1, workers, 4).sent()
              - new GradientSums(Form.RING, Rule.V1, workers, 3).sent();
      assertEquals(workers * allReduce, step);
    }
  }

  private static long moves(int workers, int steps) {
    ExchangeExecution execution =
        ExchangeExecution.ofSlots(new Cyclic(workers).schedule(Form.ZERO, Rule.V2, steps));
    return execution.order().stream().filter(execution::moves).count();
  }

  /**
   * Again Ψ_P: the last stage turns round on one worker, the first goes from step to step on one.
   */
  @Test
  void statesOfEveryStageMoveAsOftenAsAnAllReduceSendsParts() {
    for (int workers = 1; workers <= MOST_WORKERS; workers++) {
      long step = moves(workers, 4) - moves(workers, 3);
      assertEquals(workers * 2L * (workers - 1), step, workers + " workers");
    }
  }

  @ParameterizedTest
  @EnumSource
  void statesNeverHaveTwoUsersInASlotWhateverExchangesTake(Rule rule) {
    for (int workers = 1; workers <= MOST_WORKERS; workers++) {
      for (double exchange : new double[] {0, 0.5, 3}) {
        Schedule schedule = new Cyclic(workers).schedule(Form.ZERO, rule, 3);
        ExchangeExecution execution = new ExchangeExecution(schedule, seconds(exchange, 0.25));
        for (int stage = 0; stage < workers; stage++) {
          double free = 0;
          for (At at : users(execution, stage, workers)) {
            assertTrue(execution.start(at) >= free, "two users at once");
            free = execution.end(at);
          }
        }
      }
    }
  }

  private static ToDoubleFunction<Op> seconds(double exchange, double update) {
    return op -> op.pass().exchanges() ? exchange : op.pass() == Pass.UPDATE ? update : 1;
  }

  private static List<At> users(ExchangeExecution execution, int stage, int workers) {
    return execution.order().stream()
        .filter(at -> !at.op().pass().exchanges() && at.op().stage() % workers == stage)
        .sorted(
            Comparator.comparingDouble((At at) -> execution.start(at))
                .thenComparingDouble(execution::end))
        .toList();
  }

  private static double makespan(int workers, int steps) {
    Schedule schedule = new Cyclic(workers).schedule(Form.RING, Rule.V1, steps);
    return new ExchangeExecution(schedule, seconds(0.5, 0)).makespan();
  }

  @Test
  void aHandOnThatTakesNoLongerThanAPassHidesButBehindTheLastStage() {
    for (int workers = 3; workers <= MOST_WORKERS; workers++) {
      assertEquals(2 * workers + 0.5, makespan(workers, 4) - makespan(workers, 3), 1e-9);
    }
  }
}
