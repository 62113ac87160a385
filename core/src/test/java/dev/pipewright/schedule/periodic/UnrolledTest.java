package dev.pipewright.schedule.periodic;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.schedule.Diagram;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.check.Validator;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.StaticSimulator;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class UnrolledTest {
  @ParameterizedTest(name = "{0} stages, {1} batches")
  @CsvSource({"1, 1", "1, 3", "3, 1", "3, 4", "4, 9", "8, 3", "16, 40"})
  void equalStagesRunOneForwardOneBackward(int stages, int batches) {
    Pattern pattern = OneForwardOneBackwardStar.of(Loads.equal(stages), 2);
    int[] inFlight = new int[stages];
    Arrays.setAll(inFlight, stage -> Math.min(stages - stage, batches));
    assertEquals(
        Diagram.of(OneForwardOneBackward.of(batches, inFlight)),
        Diagram.of(Unrolled.of("1f1b-star", pattern, batches)));
  }

  @Test
  void groupsOfTwoTakeBatchesThereAndBack() {
    Pattern pattern = OneForwardOneBackwardStar.of(Loads.equal(4), 4);
    assertEquals(
        """
        0 | F0 F1 B0 F2 B1 F3 B2 B3
        1 | F0 F1 B0 F2 B1 F3 B2 B3
        2 | F0 B0 F1 B1 F2 B2 F3 B3
        3 | F0 B0 F1 B1 F2 B2 F3 B3
        """,
        Diagram.of(Unrolled.of("1f1b-star", pattern, 4)));
  }

  @RepeatedTest(100)
  void canRunAndIsNeverSlowerThanThePattern(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    List<StageLoad> alone = Loads.whole(random, random.nextInt(1, 8), 5);
    double[] cuts = random.doubles(alone.size() - 1, 0, 3).map(Math::floor).toArray(); // some 0
    List<StageLoad> stages = StageLoad.withTransfers(alone, cuts);
    double once = Loads.slowest(stages) + random.nextInt(0, 8);
    int kept = random.nextInt(0, 5);
    Pattern pattern =
        kept == 0 ? OneForwardOneBackwardStar.of(stages, once) : KPeriodic.of(stages, once, kept);
    for (int batches : new int[] {1, 2, 7, 40}) {
      Schedule schedule = Unrolled.of("unrolled", pattern, batches);
      assertEquals(List.of(), Validator.check(schedule), pattern::toString);
      Run run = StaticSimulator.run(schedule, times(stages));
      double there = 2 * stages.size() * once; // more than a batch takes there and back
      assertTrue(run.makespan() <= there + (batches + kept) * pattern.normalisedPeriod());
      assertTrue(run.makespan() >= batches * Loads.slowest(stages));
    }
    Run run = StaticSimulator.run(Unrolled.of("unrolled", pattern, 40), times(stages));
    assertArrayEquals(pattern.concurrentActivations(), run.peakActivations());
  }

  @RepeatedTest(100)
  void takesThePeriodPerBatchInTheLongRun(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    List<StageLoad> stages = Loads.whole(random, random.nextInt(1, 8), 5);
    double[] capacity = random.doubles(stages.size(), 6, 20).map(Math::rint).toArray();
    var best = OneForwardOneBackwardStar.bestPeriod(stages, capacity);
    double period = best.orElse(Loads.slowest(stages));
    Pattern pattern = OneForwardOneBackwardStar.of(stages, period);
    assertEquals(100 * period, makespan(pattern, 200) - makespan(pattern, 100), 1e-9);
  }

  @ParameterizedTest(name = "k = {0}")
  @CsvSource({"1", "2", "3", "6"})
  void takesTheNormalisedPeriodWhereBatchesAreDropped(int kept) {
    Pattern pattern = KPeriodic.of(Loads.equal(kept + 1), kept);
    double perBatch = (makespan(pattern, 200 * kept) - makespan(pattern, 100 * kept)) / 100 / kept;
    assertEquals(2 * (1 + 1.0 / kept), perBatch, 1e-9);
  }

  private static double makespan(Pattern pattern, int batches) {
    return StaticSimulator.run(Unrolled.of("unrolled", pattern, batches), times(pattern.stages()))
        .makespan();
  }

  private static OpTimes times(List<StageLoad> stages) {
    return OpTimes.of(
        stages.stream().mapToDouble(StageLoad::forwardSeconds).toArray(),
        stages.stream().mapToDouble(StageLoad::backwardSeconds).toArray(),
        new double[stages.size()],
        0);
  }
}
