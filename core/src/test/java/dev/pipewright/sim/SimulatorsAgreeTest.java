package dev.pipewright.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.schedule.Chimera;
import dev.pipewright.schedule.DualPipe;
import dev.pipewright.schedule.DualPipeV;
import dev.pipewright.schedule.GPipe;
import dev.pipewright.schedule.Hanayo;
import dev.pipewright.schedule.Interleaved;
import dev.pipewright.schedule.InterleavedZeroBubble;
import dev.pipewright.schedule.LoopedBreadthFirst;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.OneForwardOneBackwardV;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.StepEnd;
import dev.pipewright.schedule.ZeroBubbleH1;
import dev.pipewright.schedule.ZeroBubbleH2;
import dev.pipewright.schedule.search.AdaptiveV;
import dev.pipewright.schedule.search.OncePerStepTimes;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.schedule.search.ZeroBubbleAuto;
import dev.pipewright.sim.Conditions.Transfers;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Where both simulators apply, one is the other's referee. */
class SimulatorsAgreeTest {
  private static final double DUST = 1e-9;
  private static final int RANKS = 4;
  private static final int MICRO_BATCHES = 8;

  private static List<Schedule> schedules() {
    OpTimes straight = OpTimes.equal(RANKS, 1, 1.2, 0.7, 0.1);
    OpTimes turned = OpTimes.equal(2 * RANKS, 1, 1.2, 0.7, 0.1);
    double[] cap = new double[RANKS];
    Arrays.fill(cap, RANKS + 1);
    return List.of(
        GPipe.of(RANKS, MICRO_BATCHES),
        OneForwardOneBackward.of(RANKS, MICRO_BATCHES),
        OneForwardOneBackward.of(MICRO_BATCHES, PipelinePolicy.B.inFlight(RANKS, MICRO_BATCHES)),
        OneForwardOneBackwardV.of(RANKS, MICRO_BATCHES),
        Interleaved.of(RANKS, 3, MICRO_BATCHES),
        Interleaved.grouped(RANKS, 2, MICRO_BATCHES, 3),
        InterleavedZeroBubble.of(RANKS, 2, MICRO_BATCHES),
        LoopedBreadthFirst.of(RANKS, 2, MICRO_BATCHES),
        ZeroBubbleH1.of(RANKS, MICRO_BATCHES),
        ZeroBubbleH2.of(RANKS, MICRO_BATCHES),
        ZeroBubbleAuto.of(MICRO_BATCHES, straight, cap),
        AdaptiveV.of(MICRO_BATCHES, turned, AdaptiveV.zeroBubble(RANKS)),
        AdaptiveV.of(MICRO_BATCHES, turned, AdaptiveV.half(RANKS)),
        DualPipe.of(RANKS, MICRO_BATCHES),
        DualPipeV.of(RANKS, MICRO_BATCHES),
        Chimera.of(RANKS, MICRO_BATCHES),
        Hanayo.of(RANKS, MICRO_BATCHES, 2));
  }

  private static OpTimes times(SplittableRandom random, int stages, boolean overlapped) {
    double[][] each = new double[10][];
    Arrays.setAll(each, i -> random.doubles(stages).toArray());
    OncePerStepTimes step = new OncePerStepTimes(each[6], each[7], each[8], each[9]);
    return new OpTimes(each[0], each[1], each[2], each[3], each[4], each[5], step, overlapped);
  }

  @ParameterizedTest
  @MethodSource("schedules")
  void onEverySchedule(Schedule schedule) {
    SplittableRandom random = new SplittableRandom(schedule.name().hashCode());
    for (Transfers transfers : Transfers.values()) {
      for (boolean overlapped : new boolean[] {false, true}) {
        OpTimes times = times(random, schedule.stages(), overlapped);
        Conditions conditions = Conditions.of(transfers);
        agree(schedule, times, conditions);
        agree(StepEnd.of(schedule), times, conditions);
        agree(StepEnd.of(schedule), times, conditions.withJitter(new Jitter(7, 0.3, 0.2, 2)));
      }
    }
  }

  @RepeatedTest(value = 300, name = "seed {currentRepetition}")
  void onRandomOrders(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    var placement = RandomOrders.placement(random);
    Schedule schedule = RandomOrders.schedule(random, placement, random.nextInt(1, 6));
    OpTimes times = times(random, placement.stages(), false);
    Transfers transfers = List.of(Transfers.values()).get(random.nextInt(3));
    Conditions conditions = Conditions.of(transfers).withJitter(Jitter.of(random.nextLong(), 0.5));
    agree(schedule, times, conditions);
    if (placement.chains() == 1 || transfers != Transfers.BLOCKING) {
      // ranks that stand still in a collective may keep each other from ever coming to it
      agree(StepEnd.of(schedule), times, conditions);
    }
  }

  private static void agree(Schedule schedule, OpTimes times, Conditions conditions) {
    Run first = StaticSimulator.run(schedule, times, conditions);
    Run second = EventSimulator.run(schedule, times, conditions);
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      for (int i = 0; i < schedule.packed(rank).length; i++) {
        assertEquals(first.start(rank, i), second.start(rank, i), DUST);
        assertEquals(first.end(rank, i), second.end(rank, i), DUST);
      }
    }
    for (int stage = 0; stage < schedule.stages(); stage++) {
      for (int i = 0; i < schedule.microBatches(); i++) {
        assertEquals(first.activationAt(stage, i), second.activationAt(stage, i), DUST);
        assertEquals(first.gradientAt(stage, i), second.gradientAt(stage, i), DUST);
      }
    }
  }

  /**
   * Only ways that two messages share make a difference; on their own ones they take their time.
   */
  @ParameterizedTest
  @EnumSource(names = {"DELAYED", "BLOCKING"})
  void overWiresThatNobodyShares(Transfers transfers) {
    Schedule schedule = StepEnd.of(OneForwardOneBackward.of(RANKS, MICRO_BATCHES));
    double latency = 0.1;
    double bandwidth = 8;
    double[] bytes = {1, 2, 1.5, 0};
    SplittableRandom random = new SplittableRandom(1);
    OpTimes given = times(random, RANKS, false);
    double[] way = Arrays.stream(bytes).map(size -> latency + size / bandwidth).toArray();
    OpTimes times = OpTimes.whole(given.forward(), given.input(), way, way).withStep(given.step());
    Conditions conditions = Conditions.of(transfers);
    Wires wires = Wires.direct(RANKS, bandwidth, latency);
    Traffic traffic = Traffic.ofCuts(bytes);
    Run flows = EventSimulator.run(schedule, times, conditions, traffic, wires);
    Run fixed = StaticSimulator.run(schedule, times, conditions);
    assertTrue(fixed.makespan() > 0);
    assertEquals(fixed.makespan(), flows.makespan(), DUST);
  }
}
