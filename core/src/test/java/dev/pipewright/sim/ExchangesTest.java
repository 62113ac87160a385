package dev.pipewright.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.pipewright.schedule.GPipe;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Program;
import dev.pipewright.schedule.Recomputed;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.check.Validator;
import dev.pipewright.schedule.search.OncePerStepTimes;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.Conditions.Transfers;
import java.util.Arrays;
import java.util.List;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ExchangesTest {
  private static final double DUST = 1e-9;

  /** Workers that each run both stages of a network on a micro-batch of their own. */
  private static Schedule workers(int workers, BiConsumer<Integer, Program> program) {
    int[] rankOf = new int[2 * workers];
    long[][] programs = new long[workers][];
    for (int worker = 0; worker < workers; worker++) {
      rankOf[2 * worker] = worker;
      rankOf[2 * worker + 1] = worker;
      Program ops = new Program();
      program.accept(worker, ops);
      programs[worker] = ops.packed();
    }
    return new Schedule("workers", Placement.of(workers, workers, rankOf), 1, programs);
  }

  private static Schedule dataParallel(int workers) {
    return workers(
        workers,
        (worker, ops) ->
            ops.add(Pass.FORWARD, 2 * worker, 0)
                .add(Pass.FORWARD, 2 * worker + 1, 0)
                .add(Pass.BACKWARD, 2 * worker + 1, 0)
                .add(Pass.REDUCE, 2 * worker + 1, 0)
                .add(Pass.BACKWARD, 2 * worker, 0)
                .add(Pass.REDUCE, 2 * worker, 0)
                .add(Pass.UPDATE, 2 * worker + 1, 0)
                .add(Pass.UPDATE, 2 * worker, 0));
  }

  /** Forward 1, backward 2; a collective takes 1.5, a hand-on 0.25, an update 0.5. */
  private static OpTimes times(int stages) {
    double[][] step = new double[4][stages];
    double[] seconds = {1.5, 1.5, 0.25, 0.5};
    for (int i = 0; i < step.length; i++) {
      Arrays.fill(step[i], seconds[i]);
    }
    return OpTimes.equal(stages, 1, 1, 1, 0)
        .withStep(new OncePerStepTimes(step[0], step[1], step[2], step[3]));
  }

  private static double[] ends(Run run, int rank) {
    double[] ends = new double[run.schedule().packed(rank).length];
    Arrays.setAll(ends, i -> run.end(rank, i));
    return ends;
  }

  @Test
  void gradientsAreAddedUpBesideTheBackwardPassOfTheStageBefore() {
    Run run = StaticSimulator.run(dataParallel(3), times(6));
    // F1 F2 B4, its sum 4 to 5.5 beside B4..6, the second sum 6 to 7.5, updates behind their sums
    double[] expected = {1, 2, 4, 5.5, 6, 7.5, 6.5, 8};
    for (int rank = 0; rank < 3; rank++) {
      assertEquals(Arrays.toString(expected), Arrays.toString(ends(run, rank)));
    }
  }

  @Test
  void aCollectiveWaitsForTheSlowestOfItsRanks() {
    OpTimes even = times(6);
    double[] slower = even.forward().clone();
    slower[2] = 4; // the second worker's first stage
    OpTimes times =
        new OpTimes(
            slower,
            even.input(),
            even.weight(),
            even.recompute(),
            even.there(),
            even.back(),
            even.step(),
            false);
    Run run = StaticSimulator.run(dataParallel(3), times);
    assertEquals(7, run.start(0, 3), DUST);
    assertEquals(8.5, run.end(0, 3), DUST);
    assertEquals(6, run.end(0, 4), DUST); // its own backward pass did not wait
    assertEquals(11, run.makespan(), DUST);
  }

  @Test
  void withoutOverlapRanksStandStillMeanwhile() {
    Run run = StaticSimulator.run(dataParallel(2), times(4), Conditions.of(Transfers.BLOCKING));
    double[] expected = {1, 2, 4, 5.5, 7.5, 9, 9.5, 10};
    assertEquals(Arrays.toString(expected), Arrays.toString(ends(run, 0)));
  }

  /** Each worker adds its gradient to what the one before hands on; the last has the sum. */
  private static Schedule ring(int workers) {
    return workers(
        workers,
        (worker, ops) ->
            ops.add(Pass.FORWARD, 2 * worker, 0)
                .add(Pass.FORWARD, 2 * worker + 1, 0)
                .add(Pass.HAND_ON, 2 * worker + 1, worker)
                .add(Pass.BACKWARD, 2 * worker + 1, 0)
                .add(Pass.HAND_ON, 2 * worker, worker)
                .add(Pass.BACKWARD, 2 * worker, 0));
  }

  @Test
  void handsOnGoFromRankToRankInTurn() {
    Run run = StaticSimulator.run(ring(3), times(6));
    assertEquals("[1.0, 2.0, 2.0, 4.0, 4.0, 6.0]", Arrays.toString(ends(run, 0)));
    // taken over at 4 when worker 0 is done with the stage; then at 6.25, when worker 1 itself is
    assertEquals("[1.0, 2.0, 4.25, 6.25, 6.5, 8.5]", Arrays.toString(ends(run, 1)));
    assertEquals(6.25, run.start(2, 2), DUST);
  }

  @Test
  void aRecomputationBelongsToTheTurnOfItsBackwardPass() {
    Schedule again = Recomputed.of(ring(3), (stage, microBatch) -> true);
    OpTimes plain = times(6);
    double[] longer = plain.input().clone();
    Arrays.setAll(longer, stage -> plain.input()[stage] + plain.recompute()[stage]);
    OpTimes together =
        OpTimes.of(plain.forward(), longer, plain.weight(), 0).withStep(plain.step());
    double expected = StaticSimulator.run(ring(3), together).makespan();
    assertEquals(expected, StaticSimulator.run(again, plain).makespan(), DUST);
    assertEquals(expected, EventSimulator.run(again, plain, Conditions.PLAIN).makespan(), DUST);
    assertEquals(List.of(), Validator.check(again));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 5})
  void bothSimulatorsAgree(int workers) {
    for (Schedule schedule : new Schedule[] {dataParallel(workers), ring(workers)}) {
      for (Transfers transfers : Transfers.values()) {
        Conditions conditions = Conditions.of(transfers).withJitter(Jitter.of(workers, 0.5));
        Run first = StaticSimulator.run(schedule, times(2 * workers), conditions);
        Run second = EventSimulator.run(schedule, times(2 * workers), conditions);
        for (int rank = 0; rank < workers; rank++) {
          assertEquals(Arrays.toString(ends(first, rank)), Arrays.toString(ends(second, rank)));
        }
      }
    }
  }

  private static double collective(CollectiveRounds rounds, int workers, Wires wires) {
    double[] sizes = new double[2 * workers];
    Arrays.fill(sizes, 24);
    Traffic traffic = new Traffic(new double[2 * workers], sizes, rounds);
    Run run =
        EventSimulator.run(
            dataParallel(workers), times(2 * workers), Conditions.PLAIN, traffic, wires);
    return run.end(0, 3) - run.start(0, 3);
  }

  @Test
  void collectivesOverWiresTakeTheirClosedForms() {
    double latency = 0.001;
    double second = 24 / 240.0; // of all bytes over one link
    Wires direct = Wires.direct(6, 240, latency);
    double ring = 2 * 5 * (latency + second / 6);
    assertEquals(ring, collective(CollectiveRounds.ring(), 6, direct), DUST);
    double tree = 2 * 3 * (latency + second);
    assertEquals(tree, collective(CollectiveRounds.tree(), 6, direct), DUST);
    double two = 2 * 2 * (latency + second / 3) + 2 * (latency + second / 6);
    assertEquals(two, collective(CollectiveRounds.hierarchical(3), 6, direct), DUST);
  }

  @Test
  void gatheringTakesHalfOfWhatAddingUpTakes() {
    List<Integer> ranks = List.of(0, 1, 2, 3, 4, 5);
    assertEquals(5, CollectiveRounds.ring().of(Pass.GATHER, ranks, 24).size());
    assertEquals(3, CollectiveRounds.tree().of(Pass.GATHER, ranks, 24).size());
    double moved = 0; // all but one get what they lack
    for (var round : CollectiveRounds.hierarchical(3).of(Pass.GATHER, ranks, 24)) {
      moved += round.stream().mapToDouble(CollectiveRounds.Message::bytes).sum();
    }
    assertEquals(5 * 24, moved, DUST);
  }

  @Test
  void handsOnOverWiresAreOneMessage() {
    double[] sizes = new double[6];
    Arrays.fill(sizes, 24);
    Traffic traffic = new Traffic(new double[6], sizes, CollectiveRounds.ring());
    Wires wires = Wires.direct(3, 240, 0.5);
    Run run = EventSimulator.run(ring(3), times(6), Conditions.PLAIN, traffic, wires);
    assertEquals(0, run.end(0, 2) - run.start(0, 2), DUST); // the first turn takes nothing over
    assertEquals(4, run.start(1, 2), DUST);
    assertEquals(4 + 0.5 + 0.1, run.end(1, 2), DUST);
  }

  @Test
  void threeRingsOverOnePortShareIt() {
    double outside = 24 / 24.0;
    Wires nodes = Wires.nodes(6, 3, 1e12, 24, 0);
    // three messages of a sixth each leave a node at once, in two rounds
    double expected = 2 * 3 * outside / 6;
    assertEquals(expected, collective(CollectiveRounds.hierarchical(3), 6, nodes), 1e-6);
  }

  @Test
  void communicationSlowsComputingDown() {
    Schedule schedule = GPipe.of(2, 2);
    OpTimes times = OpTimes.equal(2, 1, 0.5, 0.5, 0.5);
    Conditions slower = Conditions.PLAIN.withSlowdown(2);
    Run run = EventSimulator.run(schedule, times, slower);
    // rank 0: F0 to 1; while its output is under way, 1 to 1.5, a quarter of F1: F1 to 2.25.
    assertEquals(2.25, run.end(0, 1), DUST);
    // rank 1: F0 from 1.5 alone until 2.25, then slowed until 2.75 when F1's input is there.
    assertEquals(2.75, run.activationAt(1, 1), DUST);
    assertEquals(2.75, run.end(1, 0), DUST);
  }

  @Test
  void aSlowdownNeedsEvents() {
    Conditions slower = Conditions.PLAIN.withSlowdown(2);
    assertThrows(
        IllegalArgumentException.class,
        () -> StaticSimulator.run(GPipe.of(2, 2), OpTimes.equal(2, 1, 1, 1, 0), slower));
  }
}
