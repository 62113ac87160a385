package dev.pipewright.schedule.search;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.check.Validator;
import dev.pipewright.sim.StaticSimulator;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class ScheduleSearchTest {
  private static final double FAR = 1.1; // of a full search: somewhat beyond SearchDepth.ROUGH's

  /** Searches for a V and for the automatic schedule, which begin anew each time. */
  private static List<Supplier<ScheduleSearch>> searches(SplittableRandom random, OpTimes[] times) {
    int ranks = random.nextInt(2, 9);
    int microBatches = random.nextInt(1, 5 * ranks);
    times[0] = Uneven.times(2 * ranks, random);
    times[1] = Uneven.times(ranks, random);
    int cap = random.nextInt(4, 2 * ranks + 1);
    double[] caps = random.doubles(ranks, 1, ranks + 1).toArray();
    return List.of(
        () -> AdaptiveV.search(microBatches, times[0], cap),
        () -> ZeroBubbleAuto.search(microBatches, times[1], caps, 1));
  }

  @RepeatedTest(20)
  void goingOnFindsWhatGoingAllTheWayFinds(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    for (Supplier<ScheduleSearch> each : searches(random, new OpTimes[2])) {
      ScheduleSearch search = each.get();
      for (SearchDepth depth : SearchDepth.values()) {
        assertEquals(List.of(), Validator.check(search.found(depth)));
      }
      Schedule stepwise = search.found(SearchDepth.FULL);
      Schedule full = each.get().found(SearchDepth.FULL);
      for (int rank = 0; rank < full.ranks(); rank++) {
        assertTrue(Arrays.equals(full.packed(rank), stepwise.packed(rank)));
      }
    }
  }

  @Test
  void whatWasFoundStaysThoughLessIsAskedFor() {
    ScheduleSearch search = AdaptiveV.search(8, OpTimes.equal(8, 1, 2, 1, 0.1), 6);
    Schedule full = search.found(SearchDepth.FULL);
    assertSame(full, search.found(SearchDepth.ROUGH));
  }

  /** What {@link SearchDepth#gain} says as a rule; times here differ more than those of plans. */
  @Test
  void deeperSearchesGainLittleAsARule() {
    int far = 0;
    int count = 0;
    for (int seed = 1; seed <= 20; seed++) {
      OpTimes[] times = new OpTimes[2];
      SplittableRandom random = new SplittableRandom(seed);
      List<Supplier<ScheduleSearch>> searches = searches(random, times);
      for (int i = 0; i < searches.size(); i++) {
        ScheduleSearch search = searches.get(i).get();
        double rough = makespan(search.found(SearchDepth.ROUGH), times[i]);
        double full = makespan(search.found(SearchDepth.FULL), times[i]);
        far += rough > FAR * full ? 1 : 0;
        count++;
      }
    }
    assertTrue(10 * far <= count, far + " of " + count);
  }

  private static double makespan(Schedule schedule, OpTimes times) {
    return StaticSimulator.run(schedule, times).makespan();
  }
}
