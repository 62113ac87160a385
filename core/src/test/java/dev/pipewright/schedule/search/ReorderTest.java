package dev.pipewright.schedule.search;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.check.Validator;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.StaticSimulator;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;

class ReorderTest {
  @RepeatedTest(20)
  void keepsProgramsValidAndWithinMemory(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    int ranks = random.nextInt(2, 7);
    int microBatches = random.nextInt(1, 14);
    int together = random.nextInt(1, 4);
    int cap = 2 * together + random.nextInt(3);
    OpTimes times = Uneven.times(2 * ranks, random);
    Placement placement = Placement.waves(ranks, 2);
    OpLanes lanes = new OpLanes(placement, microBatches, times);
    double[] caps = new double[ranks];
    Arrays.fill(caps, cap);
    byte[][] given = VGroups.programs(ranks, microBatches, together);
    byte[][] reordered = new Reorder(lanes, caps).run(given, 0);
    Schedule schedule = new Schedule("groups", placement, microBatches, lanes.packed(reordered));
    assertEquals(List.of(), Validator.check(schedule));
    Run run = StaticSimulator.run(schedule, times);
    assertTrue(Arrays.stream(run.peakActivations()).max().orElseThrow() <= cap);
  }

  @RepeatedTest(10)
  void theEarliestIsTheLowestOfTheFirst(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    double[] at = new double[random.nextInt(1, 20)];
    Earliest earliest = new Earliest(at.length);
    for (int i = 0; i < 100; i++) {
      int rank = random.nextInt(at.length);
      at[rank] = random.nextInt(10);
      earliest.set(rank, at[rank]);
      int first = 0;
      for (int other = 1; other < at.length; other++) {
        first = at[other] < at[first] ? other : first;
      }
      assertEquals(first, earliest.first());
    }
  }
}
