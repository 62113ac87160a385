package dev.pipewright.planner.madpipe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.schedule.periodic.Discipline.Star;
import java.util.EnumSet;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class LeastMemoryTest {
  private static final Set<Recomputation> OF_LAYERS =
      EnumSet.complementOf(EnumSet.of(Recomputation.ALWAYS_EXCEPT_LAST));

  @RepeatedTest(200)
  void withSoMuchAPlanExistsAndWithLessNoneDoes(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    LayerChain chain = Chains.random(random, 8);
    int devices = random.nextInt(1, 6);
    double least = LeastMemory.bytes(chain, devices);
    assertTrue(
        ContiguousPlanner.plan(new PeriodicProblem(chain, devices, least), new Star()).isPresent());
    if (least > 0) {
      var less = new PeriodicProblem(chain, devices, Math.nextDown(least));
      assertTrue(ContiguousPlanner.plan(less, new Star()).isEmpty());
    }
    int fewest = LeastMemory.devices(chain, least);
    assertTrue(1 <= fewest && fewest <= devices);
    assertEquals(0, fewest == 1 ? 0 : fits(chain, fewest - 1, least), "one fewer");
  }

  @RepeatedTest(200)
  void withLayersThatRunAgainSoMuchIsEnoughToo(RepetitionInfo seed) {
    var random = new SplittableRandom(100 + seed.getCurrentRepetition());
    LayerChain chain = Chains.withInputs(random, 7);
    int devices = random.nextInt(1, 5);
    for (Recomputation kind : OF_LAYERS) {
      double least = LeastMemory.bytes(chain, devices, kind);
      var enough = new PeriodicProblem(chain, devices, least).recomputing(kind);
      assertTrue(ContiguousPlanner.plan(enough, new Star()).isPresent(), kind::toString);
      var less = enough.within(Math.nextDown(least));
      assertTrue(ContiguousPlanner.plan(less, new Star()).isEmpty(), kind::toString);
      assertTrue(LeastMemory.devices(chain, least, kind) <= devices, kind::toString);
      assertTrue(least <= LeastMemory.bytes(chain, devices), kind::toString);
    }
  }

  private static int fits(LayerChain chain, int devices, double bytes) {
    return LeastMemory.bytes(chain, devices) <= bytes ? 1 : 0;
  }

  @Test
  void aPlanThatFitsNowhereSaysWhatWould() {
    var tight = new PeriodicProblem(Chains.of(1, 1024, 1, 2048, 1, 1024), 2, 2000);
    assertEquals(
        "the devices have 1.95 KiB each; 3.00 KiB on each of the 2 would do",
        PeriodicPlanner.plan(tight, () -> false).binding());
    var few = new PeriodicProblem(Chains.of(1, 2048, 1, 2048, 1, 2048), 2, 2048);
    assertEquals(
        "the devices have 2.00 KiB each; 4.00 KiB on each of the 2 would do, or 3 devices",
        PeriodicPlanner.plan(few, () -> false).binding());
  }

  @Test
  void whatWouldDoCountsLayersThatRunAgain() {
    var loads =
        java.util.List.of(
            new dev.pipewright.schedule.periodic.StageLoad(1, 1, 0, 1024),
            new dev.pipewright.schedule.periodic.StageLoad(1, 1, 0, 1024),
            new dev.pipewright.schedule.periodic.StageLoad(1, 1, 0, 1024));
    var kept = new PeriodicProblem(LayerChain.of(loads), 1, 1000);
    assertEquals(
        "the devices have 1000 B each; 3.00 KiB on each of the 1 would do",
        PeriodicPlanner.plan(kept, () -> false).binding());
    assertEquals(
        "the devices have 1000 B each; 1.00 KiB on each of the 1 would do",
        PeriodicPlanner.plan(kept.recomputing(Recomputation.SELECTIVE), () -> false).binding());
  }

  @Test
  void whatBindsIsADeviceATransferOrMemory() {
    var busy = new PeriodicProblem(Chains.of(1, 1, 2, 2, 1, 1), 2, 2);
    assertEquals(
        "device 0 computes all the time: 2.00 s for each batch",
        PeriodicPlanner.plan(busy, () -> false).binding());
    var loads =
        java.util.List.of(
            new dev.pipewright.schedule.periodic.StageLoad(1, 1, 0, 1),
            new dev.pipewright.schedule.periodic.StageLoad(1, 1, 0, 1));
    var slow = new PeriodicProblem(LayerChain.of(loads, 1.5), 2, 9);
    assertEquals(
        "the transfers between stages 0 and 1 take 3.00 s for each batch",
        PeriodicPlanner.plan(slow, () -> false).binding());
    var full = new PeriodicProblem(LayerChain.of(loads, 0.5), 2, 1);
    assertEquals(
        "memory: stage 0 holds 1 batch, and one more would take device 0 to 2 B of 1 B",
        PeriodicPlanner.plan(full, () -> false).binding());
  }
}
