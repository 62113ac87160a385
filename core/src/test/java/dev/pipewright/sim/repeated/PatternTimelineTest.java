package dev.pipewright.sim.repeated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.periodic.OneForwardOneBackwardStar;
import dev.pipewright.schedule.periodic.Pattern;
import dev.pipewright.schedule.periodic.RepeatedOp;
import dev.pipewright.schedule.periodic.StageLoad;
import dev.pipewright.sim.repeated.PatternTimeline.Device;
import dev.pipewright.trace.Timeline;
import dev.pipewright.trace.Timeline.Kind;
import dev.pipewright.trace.Timeline.Lane;
import dev.pipewright.trace.Timeline.Slice;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;

/** The referee is the pattern itself: its starts, its periods and the batches that it holds. */
class PatternTimelineTest {
  private static final double WORKING = 7;

  private static Pattern random(SplittableRandom random) {
    List<StageLoad> stages = new ArrayList<>();
    int depth = random.nextInt(1, 6);
    double[] cuts = new double[depth - 1];
    double slowest = 0;
    for (int stage = 0; stage < depth; stage++) {
      StageLoad load =
          new StageLoad(
              1 + random.nextInt(4),
              1 + random.nextInt(6),
              random.nextInt(50),
              1 + random.nextInt(20));
      slowest = Math.max(slowest, load.seconds());
      stages.add(load);
      if (stage > 0) {
        cuts[stage - 1] = random.nextInt(3);
        slowest = Math.max(slowest, 2 * cuts[stage - 1]);
      }
    }
    return OneForwardOneBackwardStar.of(
        StageLoad.withTransfers(stages, cuts), slowest + random.nextInt(5));
  }

  private static List<Device> devices(Pattern pattern) {
    List<Device> devices = new ArrayList<>();
    for (int stage = 0; stage < pattern.stages().size(); stage += 2) {
      double states = pattern.stages().get(stage).stateBytes();
      devices.add(new Device(stage, List.of(stage / 2), states, WORKING, 1e9));
    }
    return devices;
  }

  @RepeatedTest(100)
  void opsStartWhenThePatternSays(RepetitionInfo seed) {
    Pattern pattern = random(new SplittableRandom(seed.getCurrentRepetition()));
    Timeline timeline = PatternTimeline.of(pattern, devices(pattern));
    int shown = 0;
    for (Lane lane : timeline.lanes()) {
      double free = 0;
      for (Slice slice : lane.slices()) {
        RepeatedOp op = op(pattern, slice);
        double periods = (slice.start() - op.start()) / pattern.period();
        assertEquals(Math.rint(periods), periods, 1e-9, slice::toString);
        assertEquals(pattern.seconds(op), slice.seconds(), 1e-9);
        assertTrue(slice.start() >= free - 1e-9, slice::toString);
        free = slice.end();
        shown++;
      }
    }
    assertTrue(shown >= 2 * pattern.ops().size(), "two full periods");
  }

  /** The op of a slice: links are between computing stages, and messages name their sender. */
  private static RepeatedOp op(Pattern pattern, Slice slice) {
    int stage =
        switch (slice.kind()) {
          case TRANSFER_FORWARD -> 2 * slice.stage() + 1;
          case TRANSFER_BACKWARD -> 2 * slice.stage() - 1;
          default -> 2 * slice.stage();
        };
    boolean forward = slice.kind() == Kind.FORWARD || slice.kind() == Kind.TRANSFER_FORWARD;
    Pass pass = forward ? Pass.FORWARD : Pass.BACKWARD;
    return pattern.ops().stream()
        .filter(op -> op.stage() == stage && op.pass() == pass)
        .findFirst()
        .orElseThrow();
  }

  @RepeatedTest(100)
  void memoryPeaksAtWhatThePatternHolds(RepetitionInfo seed) {
    Pattern pattern = random(new SplittableRandom(seed.getCurrentRepetition()));
    Timeline timeline = PatternTimeline.of(pattern, devices(pattern));
    int[] held = pattern.concurrentActivations();
    for (Timeline.Memory memory : timeline.memory()) {
      StageLoad load = pattern.stages().get(2 * memory.rank());
      assertEquals(
          load.stateBytes() + WORKING + held[2 * memory.rank()] * load.activationBytes(),
          memory.peak(),
          1e-9);
    }
  }

  @RepeatedTest(30)
  void aSlowDeviceTakesLonger(RepetitionInfo seed) {
    Pattern pattern = random(new SplittableRandom(seed.getCurrentRepetition()));
    Timeline usual = PatternTimeline.of(pattern, devices(pattern));
    Timeline slow = PatternTimeline.of(pattern, devices(pattern), 3);
    double ratio =
        slow.compute().getFirst().busySeconds() / usual.compute().getFirst().busySeconds();
    assertEquals(3, ratio, 1e-9);
    assertTrue(slow.stepSeconds() >= usual.stepSeconds());
  }
}
