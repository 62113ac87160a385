package dev.pipewright.schedule.cyclic;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.schedule.ExchangeExecution;
import dev.pipewright.schedule.Op;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.PassesOnly;
import dev.pipewright.schedule.Picture;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.check.Execution.At;
import dev.pipewright.schedule.cyclic.Cyclic.Form;
import dev.pipewright.schedule.cyclic.Cyclic.Rule;
import dev.pipewright.schedule.search.OpTimes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.BiPredicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What holds for every form under either rule. */
class CyclicFormsTest {
  private static final int MOST_WORKERS = 7;
  private static final int STEPS = 3;

  private static Stream<Arguments> where(BiPredicate<Form, Rule> condition) {
    return Stream.of(Form.values())
        .flatMap(form ->
            Stream.of(Rule.values())
                .filter(rule -> condition.test(form, rule))
                .map(rule -> Arguments.of(form, rule)));
  }

  private static Stream<Arguments> forms() {
    return where((form, rule) -> true);
  }

  /** But one device, which runs passes of one slot one by one. */
  private static Stream<Arguments> formsInSlots() {
    return where((form, rule) -> form != Form.SINGLE);
  }

  /** But the first rule's with one copy for all: they keep the parameters before, too. */
  private static Stream<Arguments> formsThatUseTheNewest() {
    return where((form, rule) -> hasCopies(form) || rule == Rule.V2);
  }

  /** Whether each device has a copy of its own of the stages that it runs. */
  private static boolean hasCopies(Form form) {
    return form == Form.RING || form == Form.PYRAMID;
  }

  private static boolean pass(Op op) {
    return op.pass() == Pass.FORWARD || op.pass() == Pass.BACKWARD;
  }

  private static ExchangeExecution execution(Form form, Rule rule, int workers) {
    return ExchangeExecution.ofSlots(new Cyclic(workers).schedule(form, rule, STEPS));
  }

  @ParameterizedTest
  @MethodSource("forms")
  void everyFormRunsEveryPassOnce(Form form, Rule rule) {
    for (int workers = 1; workers <= MOST_WORKERS; workers++) {
      for (int steps = 1; steps <= STEPS; steps++) {
        Schedule schedule = new Cyclic(workers).schedule(form, rule, steps);
        Picture.assertRuns(schedule);
        assertEquals(form.label(rule), schedule.name());
        assertEquals(2L * workers * workers * steps, PassesOnly.of(schedule).size());
        int devices =
            switch (form) {
              case SINGLE -> 1;
              case RING, PIPELINE, ZERO -> workers;
              case PYRAMID -> workers * (workers + 1) / 2;
            };
        assertEquals(devices, schedule.ranks());
      }
    }
  }

  @ParameterizedTest
  @MethodSource("formsInSlots")
  void passesRunInTheirSlotsFromTheFirstBackwardPassOn(Form form, Rule rule) {
    for (int workers = 1; workers <= MOST_WORKERS; workers++) {
      Cyclic cyclic = new Cyclic(workers);
      ExchangeExecution execution = execution(form, rule, workers);
      for (At at : execution.order()) {
        Op op = at.op();
        if (!pass(op)) {
          continue;
        }
        Turn turn = Turn.of(form, op, workers);
        double slot = (double) cyclic.slot(op.pass(), turn.stage(), turn.worker(), turn.step());
        double start = execution.start(at);
        if (op.pass() == Pass.BACKWARD || turn.step() > 0) {
          assertEquals(slot, start, () -> form + " " + turn + " " + op);
        } else {
          double early = form == Form.RING || form == Form.ZERO ? 1 : 2;
          assertTrue(slot - early * turn.worker() <= start && start <= slot, turn::toString);
        }
      }
    }
  }

  @ParameterizedTest(name = "{0}, {1}: seeds 1 to 7")
  @MethodSource("forms")
  void theSimulatorRunsEveryFormAsTheRulesOfExchangesSay(Form form, Rule rule) {
    for (int workers = 1; workers <= MOST_WORKERS; workers++) {
      Schedule schedule = new Cyclic(workers).schedule(form, rule, STEPS);
      var random = new SplittableRandom(workers);
      ExchangeExecution.assertSimulated(schedule, OpTimes.equal(schedule.stages(), 1, 0.5, 0.5, 0));
      ExchangeExecution.assertSimulated(
          schedule, ExchangeExecution.randomTimes(random, schedule.placement()));
    }
  }

  /** All workers' activations, at any time: the first passes, if early, are none too many. */
  @ParameterizedTest
  @MethodSource("forms")
  void activationsOfAllWorkersAreHalfOfThoseInStep(Form form, Rule rule) {
    for (int workers = 1; workers <= MOST_WORKERS; workers++) {
      ExchangeExecution execution = execution(form, rule, workers);
      List<double[]> changes = new ArrayList<>(); // when, by how much
      for (At at : execution.order()) {
        if (at.op().pass() == Pass.FORWARD) {
          changes.add(new double[] {execution.start(at), 1});
        } else if (at.op().pass() == Pass.BACKWARD) {
          changes.add(new double[] {execution.end(at), -1});
        }
      }
      changes.sort(
          Comparator.<double[]>comparingDouble(change -> change[0])
              .thenComparingDouble(change -> change[1]));
      int held = 0;
      int most = 0;
      for (double[] change : changes) {
        held += (int) change[1];
        most = Math.max(most, held);
      }
      assertEquals(workers * (workers + 1) / 2, most, form + " of " + workers);
    }
  }

  @ParameterizedTest
  @MethodSource("forms")
  void aDeviceHoldsWhatTheTableSays(Form form, Rule rule) {
    for (int workers = 1; workers <= MOST_WORKERS; workers++) {
      Schedule schedule = new Cyclic(workers).schedule(form, rule, STEPS);
      int expected =
          switch (form) {
            case RING, PIPELINE, ZERO -> workers; // B · Ψ_A, of N stages' activations
            case PYRAMID -> 1;
            case SINGLE -> workers * (workers + 1) / 2;
          };
      int most = 0;
      for (int rank = 0; rank < schedule.ranks(); rank++) {
        int held = 0;
        for (Op op : schedule.program(rank)) {
          held += op.pass() == Pass.FORWARD ? 1 : op.pass() == Pass.BACKWARD ? -1 : 0;
          most = Math.max(most, held);
        }
      }
      assertEquals(expected, most, form + " of " + workers);
    }
  }

  @ParameterizedTest
  @MethodSource("forms")
  void everyUpdateHasTheGradientsOfAllWorkers(Form form, Rule rule) {
    for (int workers = 1; workers <= MOST_WORKERS; workers++) {
      GradientSums sums = new GradientSums(form, rule, workers, STEPS);
      int updates = 0;
      for (At at : sums.execution().order()) {
        if (at.op().pass() == Pass.UPDATE) {
          assertEquals(workers, sums.count(at, at.op().microBatch()), at::toString);
          updates++;
        }
      }
      int copies =
          switch (form) {
            case RING -> workers * workers;
            case PYRAMID -> workers * (workers + 1) / 2;
            case SINGLE, PIPELINE, ZERO -> workers;
          };
      assertEquals(STEPS * copies, updates);
    }
  }

  /** Where a device has a copy of its own, both passes find the parameters of the rule in it. */
  @ParameterizedTest
  @MethodSource("formsThatUseTheNewest")
  void passesFindTheParametersOfTheRule(Form form, Rule rule) {
    boolean copies = hasCopies(form);
    for (int workers = 1; workers <= MOST_WORKERS; workers++) {
      Cyclic cyclic = new Cyclic(workers);
      ExchangeExecution execution = execution(form, rule, workers);
      Map<String, Integer> updates = new HashMap<>();
      List<At> byTime = new ArrayList<>(execution.order());
      if (!copies) { // one copy for all: in the order of time, updates first
        byTime.sort(
            Comparator.comparingDouble((At at) -> execution.start(at))
                .thenComparing(at -> pass(at.op())));
      }
      for (At at : byTime) {
        Op op = at.op();
        String copy = (copies ? at.rank() : 0) + " " + op.stage() % workers;
        int updated = updates.getOrDefault(copy, 0);
        if (op.pass() == Pass.UPDATE) {
          assertEquals(updated, op.microBatch(), "updates come in order");
          updates.put(copy, updated + 1);
        } else if (op.pass() == Pass.FORWARD || (op.pass() == Pass.BACKWARD && copies)) {
          Turn turn = Turn.of(form, op, workers);
          int delay = cyclic.delay(rule, turn.worker(), turn.stage());
          assertEquals(Math.max(0, turn.step() - delay), updated, () -> turn + " " + op);
        }
      }
    }
  }

  /** Max com. steps of table 1, O(1): whoever waits for a hand-on waits for one, in any slot. */
  @ParameterizedTest
  @MethodSource("forms")
  void aStageIsHandedOnAtMostOnceForEachSlot(Form form, Rule rule) {
    for (int workers = 1; workers <= MOST_WORKERS; workers++) {
      ExchangeExecution execution = execution(form, rule, workers);
      double training = 2.0 * workers * STEPS; // of the first worker; then comes the last round
      Map<String, Integer> hops = new HashMap<>();
      for (At at : execution.order()) {
        double slot = execution.moves(at) ? execution.start(execution.user(at)) : training;
        if (slot < training) {
          hops.merge(at.op().stage() % workers + " at " + slot, 1, Integer::sum);
        }
      }
      assertTrue(hops.values().stream().allMatch(count -> count == 1), () -> form + " " + hops);
    }
  }

  @Test
  void trainingsWithoutStepsAreRefused() {
    for (Form form : Form.values()) {
      Exception e =
          assertThrows(
              IllegalArgumentException.class, () -> new Cyclic(2).schedule(form, Rule.V1, 0));
      assertEquals("a training has steps: steps=0", e.getMessage());
    }
    assertThrows(
        IllegalArgumentException.class, () -> new Cyclic(1024).schedule(Form.PYRAMID, Rule.V1, 8));
  }
}
