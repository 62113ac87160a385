package dev.pipewright.schedule.catalog;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.schedule.Bubble;
import dev.pipewright.schedule.Bubble.Counts;
import dev.pipewright.schedule.Bubble.Times;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.StaticSimulator;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The catalogue's closed forms of bubbles against simulated schedules. */
class BubbleTest {
  private static final double DUST = 1e-9;

  static Stream<ScheduleEntry> withABubble() {
    return ScheduleCatalog.entries().stream()
        .filter(entry -> entry.published().bubble().isPresent());
  }

  @ParameterizedTest
  @MethodSource("withABubble")
  void theFormulaIsTheSimulatedBubble(ScheduleEntry entry) {
    Bubble bubble = entry.published().bubble().orElseThrow();
    List<Integer> chunks =
        entry.fixedChunks() ? List.of(entry.chunks()) : List.of(2, entry.chunks() + 2);
    int compared = 0;
    for (Times times : times()) {
      for (int ranks = 2; ranks <= 8; ranks++) {
        for (int microBatches = 1; microBatches <= 24; microBatches++) {
          for (int v : chunks) {
            Counts counts = new Counts(ranks, microBatches, v);
            if (entry.published().counts().allows(ranks, microBatches)
                && bubble.holds().test(counts, times)) {
              double simulated = simulated(entry, counts, times);
              String what = entry.name() + " " + counts + " " + times;
              assertEquals(bubble.form().of(counts, times), simulated, DUST, what);
              compared++;
            }
          }
        }
      }
    }
    assertTrue(compared >= 20, "too few cases: " + compared);
  }

  /** Equal ones, the two forms of halves that differ, and any with W ≤ B and F ≤ B + W. */
  private static List<Times> times() {
    List<Times> all = new ArrayList<>(List.of(new Times(1, 1, 1), new Times(2, 2, 1)));
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < 6; i++) {
      double b = random.nextDouble(0.5, 2);
      double w = random.nextDouble(0.2, 1) * b;
      all.add(new Times(random.nextDouble(0.2, 1) * (b + w), b, w));
    }
    return all;
  }

  private static double simulated(ScheduleEntry entry, Counts counts, Times times) {
    Schedule schedule = entry.make(ScheduleInput.counts(counts.p(), counts.m(), counts.v()));
    double v = counts.v();
    Run run =
        StaticSimulator.run(
            schedule,
            OpTimes.equal(schedule.stages(), times.f() / v, times.b() / v, times.w() / v, 0));
    return run.longestSpan() - counts.m() * (times.f() + times.b() + times.w());
  }
}
