package dev.pipewright.sim;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.schedule.GPipe;
import dev.pipewright.schedule.RandomPrograms;
import dev.pipewright.schedule.RandomPrograms.Part;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.search.OncePerStepTimes;
import dev.pipewright.schedule.search.OpTimes;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

/** Computing that communication slows down is no more work than undisturbed. */
class SlowdownTest {
  private static final double DUST = 1e-9;

  private static OpTimes times(SplittableRandom random, int stages) {
    double[][] each = new double[7][];
    Arrays.setAll(each, i -> random.doubles(stages, 0.1, 1).toArray());
    return OpTimes.of(each[0], each[1], each[2], random.nextDouble())
        .withStep(new OncePerStepTimes(each[3], each[4], each[5], each[6]));
  }

  private static Schedule schedule(SplittableRandom random) {
    return RandomPrograms.of(
        random,
        RandomPrograms.placement(random),
        random.nextInt(1, 6),
        Part.RECOMPUTED,
        Part.JOINED,
        Part.UPDATES,
        Part.EXCHANGES);
  }

  /**
   * A forward pass and a backward one take 1 each, a message 0.5, in which a rank computes 0.25.
   *
   * <pre>
   * rank 0 | F0 to 1, F1 to 2.25 (slowed until 1.5), B from 5.25 to 6.5 (slowed from 6 on), B to 7.5
   * rank 1 | F0 from 1.5 to 2.75 (slowed from 2.25 on), F1 to 3.75, B to 4.75, B to 6 (until 5.25)
   * </pre>
   */
  @Test
  void twoStagesByHand() {
    OpTimes times = OpTimes.equal(2, 1, 0.5, 0.5, 0.5);
    Run run = EventSimulator.run(GPipe.of(2, 2), times, Conditions.PLAIN.withSlowdown(2));
    assertEquals(7.5, run.makespan(), DUST);
    double[][] slower = {{0, 0.25, 0.25, 0}, {0.25, 0, 0, 0.25}};
    for (int rank = 0; rank < 2; rank++) {
      for (int i = 0; i < 4; i++) {
        assertEquals(slower[rank][i], run.stretched(rank, i), DUST, "rank " + rank + " op " + i);
      }
      assertEquals(4, run.busy(rank), DUST);
    }
    assertEquals(3.5 / 7.5, run.idleShare(), DUST);
    assertEquals(0.5 / 7.5, run.stretchedShare(), DUST);
    assertEquals(3.5 / 7.5, run.spanIdleShare(), DUST);
  }

  /** Every op takes its time, and besides it what it is stretched by. */
  @RepeatedTest(value = 200, name = "seed {currentRepetition}")
  void busyIsTheWorkThatThereIs(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    Schedule schedule = schedule(random);
    OpTimes times = times(random, schedule.stages());
    double slowdown = random.nextDouble(1, 3);
    Conditions conditions =
        Conditions.PLAIN.withJitter(Jitter.of(random.nextLong(), 0.3)).withSlowdown(slowdown);
    if (random.nextBoolean()) {
      conditions = conditions.withLookAhead(3).withJitter(Jitter.of(0, 0));
    }
    Run run = EventSimulator.run(schedule, times, conditions);
    double work = 0;
    double stretched = 0;
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      double before = work;
      double stretchedBefore = stretched;
      long[] program = run.schedule().packed(rank);
      double together = 0;
      for (int i = 0; i < program.length; i++) {
        if (Schedule.pass(program[i]).exchanges()) {
          assertEquals(0, run.stretched(rank, i));
          continue;
        }
        together += times.seconds(program[i]) * conditions.factor(rank, i);
        if (i == program.length - 1 || !Schedule.isJoined(program[i])) {
          double longer = run.end(rank, i) - run.start(rank, i) - together;
          assertEquals(longer, run.stretched(rank, i), DUST);
          assertTrue(longer <= (slowdown - 1) * together + DUST);
          work += together;
          stretched += longer;
          together = 0;
        }
      }
      assertEquals(work - before, run.busy(rank), DUST);
      assertEquals(stretched - stretchedBefore, run.stretched(rank), DUST);
    }
    double all = schedule.ranks() * run.makespan();
    assertEquals(1 - work / all, run.idleShare(), DUST);
    assertEquals(stretched / all, run.stretchedShare(), DUST);
  }

  /** What is slowed only while nothing is under way is what the other simulator sees too. */
  @RepeatedTest(value = 100, name = "seed {currentRepetition}")
  void withoutCommunicationBothSimulatorsSayTheSame(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    Schedule schedule =
        RandomPrograms.of(
            random, RandomPrograms.placement(random), random.nextInt(1, 6), Part.JOINED);
    double[] seconds = random.doubles(schedule.stages(), 0.1, 1).toArray();
    OpTimes times = OpTimes.of(seconds, seconds, seconds, 0);
    same(
        StaticSimulator.run(schedule, times),
        EventSimulator.run(schedule, times, Conditions.PLAIN.withSlowdown(2)));
  }

  @RepeatedTest(value = 100, name = "seed {currentRepetition}")
  void withoutSlowdownBothSimulatorsSayTheSame(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    Schedule schedule = schedule(random);
    OpTimes times = times(random, schedule.stages());
    same(
        StaticSimulator.run(schedule, times),
        EventSimulator.run(schedule, times, Conditions.PLAIN));
  }

  private static void same(Run one, Run other) {
    double[] busy = new double[one.schedule().ranks()];
    double[] otherBusy = new double[busy.length];
    Arrays.setAll(busy, one::busy);
    Arrays.setAll(otherBusy, other::busy);
    assertArrayEquals(busy, otherBusy, DUST);
    assertEquals(one.idleShare(), other.idleShare(), DUST);
    assertEquals(one.spanIdleShare(), other.spanIdleShare(), DUST);
    assertEquals(0, one.stretchedShare());
    assertEquals(0, other.stretchedShare());
  }
}
