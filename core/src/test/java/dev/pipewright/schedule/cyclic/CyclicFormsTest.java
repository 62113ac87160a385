package dev.pipewright.schedule.cyclic;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.schedule.Diagram;
import dev.pipewright.schedule.ExchangeExecution;
import dev.pipewright.schedule.Op;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.PassesOnly;
import dev.pipewright.schedule.Picture;
import dev.pipewright.schedule.PipeDream;
import dev.pipewright.schedule.PipeDreamTwoBuffers;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.cyclic.Cyclic.Form;
import dev.pipewright.schedule.cyclic.Cyclic.Rule;
import dev.pipewright.schedule.timed.OpTimes;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class CyclicFormsTest {
  private static final int MOST_WORKERS = 7;
  private static final int STEPS = 3;

  private static Stream<Arguments> forms() {
    return Stream.of(Form.values())
        .flatMap(form -> Stream.of(Rule.values()).map(rule -> Arguments.of(form, rule)));
  }

  /** Whose pass an op is: the worker, and the training step. */
  private record Turn(int stage, int worker, int step) {}

  private static Turn turn(Form form, Op op, int workers) {
    int chain = op.stage() / workers;
    int stage = op.stage() % workers;
    return switch (form) {
      case RING, SINGLE, ZERO -> new Turn(stage, chain, op.microBatch());
      case PYRAMID -> new Turn(stage, chain % workers, chain / workers);
      case PIPELINE -> new Turn(stage, op.microBatch() % workers, op.microBatch() / workers);
    };
  }

  private static boolean pass(Op op) {
    return op.pass() == Pass.FORWARD || op.pass() == Pass.BACKWARD;
  }

  /** One line per rank, the network's stage before each op. */
  private static String picture(Schedule schedule) {
    StringBuilder text = new StringBuilder();
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      text.append(rank).append(" |");
      for (Op op : schedule.program(rank)) {
        text.append(' ').append(op.stage() % schedule.placement().depth()).append(op);
      }
      text.append('\n');
    }
    return text.toString();
  }

  @Test
  void aRingHandsSumsOnBeforeBackwardPassesOneAhead() {
    assertEquals(
        """
        0 | 0H0 1H0 0F0 1F0 1H1 0H2 1B0 0B0 0F1 1F1 1H4 0H4 1B1 1U0 1H6 0B1 0U0 0H6 1U1 0U1
        1 | 0H1 1H2 0F0 1F0 1H3 0H3 1B0 0B0 0F1 1F1 1H5 0H5 1B1 1U0 0B1 0U0 1U1 0U1
        """,
        picture(new Cyclic(2).schedule(Form.RING, Rule.V1, 2)));
  }

  @Test
  void underTheSecondRuleTheRingBringsFreshParametersBeforeForwardPasses() {
    assertEquals(
        """
        0 | 0H0 1H0 0F0 1F0 1H1 0H2 1B0 0B0 1H4 0F1 1U0 1F1 1H5 0H4 1B1 1H7 0B1 0U0 0H6 1U1 0U1
        1 | 0H1 1H2 0F0 1F0 1H3 0H3 1B0 1U0 0B0 0U0 0F1 1F1 1H6 0H5 1B1 1U1 0B1 0U1
        """,
        picture(new Cyclic(2).schedule(Form.RING, Rule.V2, 2)));
  }

  @Test
  void oneDeviceRunsAllWorkersSlotBySlot() {
    assertEquals(
        """
        0 | 0F0 1F0 1B0 0F0 0B0 1F0 0F1 1B0 1U0 1F1 0B0 0U0 1B1 0F1 0B1 1F1 1B1 1U1 0B1 0U1
        """,
        picture(new Cyclic(2).schedule(Form.SINGLE, Rule.V2, 2)));
  }

  @Test
  void thePyramidHasOneDeviceLessForEveryStageBehind() {
    assertEquals(
        """
        0 | 0F0 0H0 0B0 0F0 0H3 0B0 0U0 0H6 0U1
        1 | 0F0 0H1 0B0 0F0 0H4 0B0 0U0 0H7 0U1
        2 | 0F0 0H2 0B0 0U0 0F0 0H5 0B0 0U1
        3 | 1F0 1B0 1F0 1H1 1B0 1U0 1F0 1H3 1B0 1H5 1U1
        4 | 1F0 1H0 1B0 1F0 1H2 1B0 1U0 1F0 1H4 1B0 1U1
        5 | 2F0 2B0 2F0 2B0 2F0 2B0 2U0 2F0 2B0 2F0 2B0 2F0 2B0 2U1
        """,
        picture(new Cyclic(3).schedule(Form.PYRAMID, Rule.V2, 2)));
  }

  @Test
  void thePipelineUpdatesAStageBehindItsLastWorker() {
    assertEquals(
        """
        0 | 0F0 0F1 0F2 0B0 0F3 0B1 0F4 0B2 0U0 0F5 0B3 0B4 0B5 0U1
        1 | 1F0 1F1 1B0 1F2 1B1 1F3 1B2 1U0 1F4 1B3 1F5 1B4 1B5 1U1
        2 | 2F0 2B0 2F1 2B1 2F2 2B2 2U0 2F3 2B3 2F4 2B4 2F5 2B5 2U1
        """,
        picture(new Cyclic(3).schedule(Form.PIPELINE, Rule.V1, 2)));
  }

  @Test
  void statesAreHandedOnBeforeEveryPassAndKeptForTheUpdate() {
    assertEquals(
        """
        0 | 0H0 1H0 0F0 1F0 1H1 0H2 1B0 0B0 0H3 1H5 0F1 1F1 1H6 0H7 1B1 0B1
        1 | 0H1 1H2 0F0 1F0 1H3 1B0 1H4 0H4 1U0 0B0 0H5 0U0 0H6 1H7 0F1 1F1 1H8 1B1 1H9 0H8 1U1 0B1 0H9 0U1
        """,
        picture(new Cyclic(2).schedule(Form.ZERO, Rule.V2, 2)));
  }

  @ParameterizedTest
  @MethodSource("forms")
  void everyFormRunsEveryPassOnce(Form form, Rule rule) {
    for (int workers = 1; workers <= MOST_WORKERS; workers++) {
      for (int steps = 1; steps <= STEPS; steps++) {
        Schedule schedule = new Cyclic(workers).schedule(form, rule, steps);
        Picture.assertRuns(schedule);
        assertEquals(form.label(rule), schedule.name());
        long passes = schedule.size() - others(schedule);
        assertEquals(2L * workers * workers * steps, passes);
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

  private static long others(Schedule schedule) {
    return schedule.size() - PassesOnly.of(schedule).size();
  }

  /** But for one device, which runs passes of one slot one by one. */
  @ParameterizedTest
  @MethodSource("forms")
  void passesRunInTheirSlotsFromTheFirstBackwardPassOn(Form form, Rule rule) {
    for (int workers = 1; form != Form.SINGLE && workers <= MOST_WORKERS; workers++) {
      Cyclic cyclic = new Cyclic(workers);
      ExchangeExecution execution = ExchangeExecution.ofSlots(cyclic.schedule(form, rule, STEPS));
      for (ExchangeExecution.Place place : execution.order()) {
        Op op = execution.op(place);
        if (!pass(op)) {
          continue;
        }
        Turn turn = turn(form, op, workers);
        double slot = (double) cyclic.slot(op.pass(), turn.stage(), turn.worker(), turn.step());
        if (op.pass() == Pass.BACKWARD || turn.step() > 0) {
          assertEquals(slot, execution.start(place), () -> form + " " + turn + " " + op);
        } else {
          int early = form == Form.RING || form == Form.ZERO ? 1 : 2;
          double start = execution.start(place);
          assertTrue(
              slot - (double) early * turn.worker() <= start && start <= slot, () -> turn + "");
        }
      }
    }
  }

  @ParameterizedTest
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
      ExchangeExecution execution =
          ExchangeExecution.ofSlots(new Cyclic(workers).schedule(form, rule, STEPS));
      List<double[]> changes = new ArrayList<>(); // when, by how much
      for (ExchangeExecution.Place place : execution.order()) {
        Op op = execution.op(place);
        if (op.pass() == Pass.FORWARD) {
          changes.add(new double[] {execution.start(place), 1});
        } else if (op.pass() == Pass.BACKWARD) {
          changes.add(new double[] {execution.end(place), -1});
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

  /**
   * The gradients, by training step and worker, in the sums of its stage that a rank has behind
   * each op: what it has taken over, and its own from its last micro-batch of a step on.
   */
  private static Map<ExchangeExecution.Place, BitSet> sums(
      Form form, ExchangeExecution execution, int workers) {
    Map<String, ExchangeExecution.Place> last = new HashMap<>();
    for (ExchangeExecution.Place place : execution.order()) {
      Op op = execution.op(place);
      if (op.pass() == Pass.BACKWARD) {
        Turn turn = turn(form, op, workers);
        last.put(place.rank() + " " + turn.stage() + " " + turn.step(), place);
      }
    }
    Map<ExchangeExecution.Place, BitSet> behind = new HashMap<>();
    Map<String, BitSet> now = new HashMap<>();
    Map<String, BitSet> own = new HashMap<>();
    for (ExchangeExecution.Place place : execution.order()) {
      Op op = execution.op(place);
      String copy = place.rank() + " " + op.stage() % workers;
      BitSet sum = now.computeIfAbsent(copy, k -> new BitSet());
      if (op.pass() == Pass.HAND_ON && op.microBatch() > 0) {
        sum.or(requireNonNull(behind.get(execution.release(op))));
      } else if (op.pass() == Pass.BACKWARD) {
        Turn turn = turn(form, op, workers);
        BitSet added = own.computeIfAbsent(copy, k -> new BitSet());
        added.set(turn.step() * workers + turn.worker());
        if (place.equals(last.get(copy + " " + turn.step()))) {
          sum.or(added);
        }
      }
      behind.put(place, (BitSet) sum.clone());
    }
    return behind;
  }

  @ParameterizedTest
  @MethodSource("forms")
  void everyUpdateHasTheGradientsOfAllWorkers(Form form, Rule rule) {
    for (int workers = 1; workers <= MOST_WORKERS; workers++) {
      ExchangeExecution execution =
          ExchangeExecution.ofSlots(new Cyclic(workers).schedule(form, rule, STEPS));
      var sums = sums(form, execution, workers);
      int updates = 0;
      for (ExchangeExecution.Place place : execution.order()) {
        Op op = execution.op(place);
        if (op.pass() == Pass.UPDATE) {
          int first = op.microBatch() * workers;
          int known = requireNonNull(sums.get(place)).get(first, first + workers).cardinality();
          assertEquals(workers, known, form + " " + rule + " of " + workers + ": " + op);
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
  @MethodSource("forms")
  void passesFindTheParametersOfTheRule(Form form, Rule rule) {
    boolean copies = form == Form.RING || form == Form.PYRAMID;
    for (int workers = 1; (copies || rule == Rule.V2) && workers <= MOST_WORKERS; workers++) {
      Cyclic cyclic = new Cyclic(workers);
      ExchangeExecution execution = ExchangeExecution.ofSlots(cyclic.schedule(form, rule, STEPS));
      Map<String, Integer> updates = new HashMap<>();
      List<ExchangeExecution.Place> byTime = new ArrayList<>(execution.order());
      if (!copies) { // one copy for all: in the order of time, updates first
        byTime.sort(
            Comparator.comparingDouble((ExchangeExecution.Place place) -> execution.start(place))
                .thenComparing(place -> pass(execution.op(place))));
      }
      for (ExchangeExecution.Place place : byTime) {
        Op op = execution.op(place);
        String copy = (copies ? place.rank() : 0) + " " + op.stage() % workers;
        int updated = updates.getOrDefault(copy, 0);
        if (op.pass() == Pass.UPDATE) {
          assertEquals(updated, op.microBatch(), "updates come in order");
          updates.put(copy, updated + 1);
        } else if (op.pass() == Pass.FORWARD || (op.pass() == Pass.BACKWARD && copies)) {
          Turn turn = turn(form, op, workers);
          int delay = cyclic.delay(rule, turn.worker(), turn.stage());
          assertEquals(Math.max(0, turn.step() - delay), updated, () -> turn + " " + op);
        }
      }
    }
  }

  /** Sums that come to a device which lacks some of their gradients, by hand-ons of a training. */
  private static int sent(Form form, Rule rule, int workers, int steps) {
    ExchangeExecution execution =
        ExchangeExecution.ofSlots(new Cyclic(workers).schedule(form, rule, steps));
    var sums = sums(form, execution, workers);
    Map<String, BitSet> before = new HashMap<>();
    int sent = 0;
    for (ExchangeExecution.Place place : execution.order()) {
      Op op = execution.op(place);
      BitSet now = requireNonNull(sums.get(place));
      BitSet gained = (BitSet) now.clone();
      BitSet old = before.put(place.rank() + " " + op.stage() % workers, now);
      gained.andNot(old == null ? new BitSet() : old);
      for (int step = 0; op.pass() == Pass.HAND_ON && step < steps; step++) {
        sent += gained.get(step * workers, (step + 1) * workers).isEmpty() ? 0 : 1;
      }
    }
    return sent;
  }

  /** Ψ_P for each device in table 1, if an all-reduce, which sends every part twice, is one. */
  @Test
  void aRingSendsWhatAnAllReduceInARingSends() {
    for (int workers = 1; workers <= MOST_WORKERS; workers++) {
      int allReduce = 2 * (workers - 1); // times a stage's gradients, in all
      int step = sent(Form.RING, Rule.V1, workers, 4) - sent(Form.RING, Rule.V1, workers, 3);
      assertEquals(workers * allReduce, step);
    }
  }

  /** ½ Ψ_P in table 1. */
  @Test
  void thePyramidSendsHalfOfWhatAllReducesAmongNDevicesOfEachStageSend() {
    for (int workers = 1; workers <= MOST_WORKERS; workers++) {
      int allReduces = workers * 2 * (workers - 1);
      for (Rule rule : Rule.values()) {
        assertEquals(STEPS * allReduces / 2, sent(Form.PYRAMID, rule, workers, STEPS));
      }
    }
  }

  private static long moves(int workers, int steps) {
    ExchangeExecution execution =
        ExchangeExecution.ofSlots(new Cyclic(workers).schedule(Form.ZERO, Rule.V2, steps));
    return execution.order().stream()
        .filter(place -> execution.op(place).pass() == Pass.HAND_ON)
        .filter(place -> execution.op(place).microBatch() > 0)
        .filter(place -> execution.release(execution.op(place)).rank() != place.rank())
        .count();
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

  /** Max com. steps of table 1, O(1): whoever waits for a hand-on waits for one, in any slot. */
  @ParameterizedTest
  @MethodSource("forms")
  void aStageIsHandedOnAtMostOnceForEachSlot(Form form, Rule rule) {
    for (int workers = 1; workers <= MOST_WORKERS; workers++) {
      Schedule schedule = new Cyclic(workers).schedule(form, rule, STEPS);
      ExchangeExecution execution = ExchangeExecution.ofSlots(schedule);
      double training = 2.0 * workers * STEPS; // of the first worker; then comes the last round
      Map<String, Integer> hops = new HashMap<>();
      for (ExchangeExecution.Place place : execution.order()) {
        Op op = execution.op(place);
        boolean moved =
            op.pass() == Pass.HAND_ON
                && op.microBatch() > 0
                && execution.release(op).rank() != place.rank();
        double slot = moved ? execution.start(execution.user(place)) : training;
        if (slot < training) {
          hops.merge(op.stage() % workers + " at " + slot, 1, Integer::sum);
        }
      }
      assertTrue(hops.values().stream().allMatch(count -> count == 1), () -> form + " " + hops);
    }
  }

  @ParameterizedTest
  @MethodSource("forms")
  void statesNeverHaveTwoUsersInASlotWhateverExchangesTake(Form form, Rule rule) {
    for (int workers = 1; form == Form.ZERO && workers <= MOST_WORKERS; workers++) {
      for (double exchange : new double[] {0, 0.5, 3}) {
        Schedule schedule = new Cyclic(workers).schedule(form, rule, STEPS);
        ExchangeExecution execution =
            new ExchangeExecution(
                schedule,
                op -> op.pass().exchanges() ? exchange : op.pass() == Pass.UPDATE ? 0.25 : 1);
        for (int stage = 0; stage < workers; stage++) {
          double free = 0;
          for (ExchangeExecution.Place place : users(execution, stage, workers)) {
            assertTrue(execution.start(place) >= free, "two users at once");
            free = execution.end(place);
          }
        }
      }
    }
  }

  private static List<ExchangeExecution.Place> users(
      ExchangeExecution execution, int stage, int workers) {
    return execution.order().stream()
        .filter(place -> ExchangeExecution.compute(execution.op(place)))
        .filter(place -> execution.op(place).stage() % workers == stage)
        .sorted(
            Comparator.comparingDouble((ExchangeExecution.Place place) -> execution.start(place))
                .thenComparingDouble(execution::end))
        .toList();
  }

  @Test
  void aHandOnThatTakesNoLongerThanAPassHidesButBehindTheLastStage() {
    for (int workers = 3; workers <= MOST_WORKERS; workers++) {
      Cyclic cyclic = new Cyclic(workers);
      double[] makespans = new double[2];
      for (int steps = 3; steps <= 4; steps++) {
        makespans[steps - 3] =
            new ExchangeExecution(
                    cyclic.schedule(Form.RING, Rule.V1, steps),
                    op -> op.pass().exchanges() ? 0.5 : op.pass() == Pass.UPDATE ? 0 : 1)
                .makespan();
      }
      assertEquals(2 * workers + 0.5, makespans[1] - makespans[0], 1e-9);
    }
  }

  @ParameterizedTest
  @MethodSource("forms")
  void thePipelineIsThatOfPipeDream(Form form, Rule rule) {
    for (int workers = 1; form == Form.PIPELINE && workers <= MOST_WORKERS; workers++) {
      Schedule schedule = new Cyclic(workers).schedule(form, rule, STEPS);
      assertEquals(
          Diagram.of(PassesOnly.of(PipeDream.of(workers, workers * STEPS))),
          Diagram.of(PassesOnly.of(schedule)));
      assertEquals(
          Diagram.of(PipeDreamTwoBuffers.of(workers, workers, STEPS)), Diagram.of(schedule));
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
