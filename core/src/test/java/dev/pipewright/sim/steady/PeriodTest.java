package dev.pipewright.sim.steady;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.schedule.PipeDream;
import dev.pipewright.schedule.PipeDream2bw;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.cyclic.Cyclic;
import dev.pipewright.schedule.cyclic.Cyclic.Form;
import dev.pipewright.schedule.cyclic.Cyclic.Rule;
import dev.pipewright.schedule.periodic.OneForwardOneBackwardStar;
import dev.pipewright.schedule.periodic.PeriodicPipeline;
import dev.pipewright.schedule.periodic.StageLoad;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.StaticSimulator;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.IntFunction;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class PeriodTest {
  /**
   * The period of a schedule of so many stages.
   *
   * @param round micro-batches of one
   * @param made for a number of rounds
   */
  private static Period of(int stages, int round, IntFunction<Schedule> made, double... forward) {
    Period.Rounds rounds = Period.Rounds.of(stages, round);
    Schedule schedule = made.apply(rounds.all());
    double[] each = new double[schedule.stages()];
    Arrays.setAll(each, stage -> forward[stage % forward.length]);
    OpTimes times = OpTimes.of(each, each, each, 0);
    return Period.of(StaticSimulator.run(schedule, times), round, rounds);
  }

  @RepeatedTest(value = 20, name = "seed {currentRepetition}")
  void pipeDreamIsAsFastAsItsSlowestStage(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    double[] forward = random.doubles(random.nextInt(1, 9), 0.1, 1).toArray();
    int stages = forward.length;
    double slowest = Arrays.stream(forward).max().orElseThrow();
    Period period = of(stages, 1, rounds -> PipeDream.of(stages, rounds), forward);
    assertEquals(3 * slowest, period.time(), 1e-9);
    assertEquals(1, period.microBatches());
    double idle = 1 - Arrays.stream(forward).sum() / stages / slowest;
    assertEquals(idle, period.idleShare(), 1e-9);
  }

  @Test
  void replicasTakeTurnsWithinAPeriod() {
    Period period = of(3, 2, rounds -> PipeDream.of(2 * rounds, 2, 1, 1), 1);
    assertEquals(new Period(6, 2, 0.25), period);
  }

  @Test
  void twoBuffersUpdateOnceAPeriod() {
    Period period = of(4, 4, rounds -> PipeDream2bw.of(4, 4, rounds), 1);
    assertEquals(new Period(12, 4, 0), period);
  }

  /** Of a training step: a worker's 2N slots, those of a backward pass twice as long. */
  @ParameterizedTest
  @EnumSource(Form.class)
  void cyclicDataParallelismRepeatsAfterAStep(Form form) {
    for (Rule rule : Rule.values()) {
      Period period = of(4, 4, rounds -> new Cyclic(4).schedule(form, rule, rounds), 1);
      double step = form == Form.SINGLE ? 4 * 12 : 12;
      double idle = form == Form.PYRAMID ? 1 - 4 * 12 / (10 * step) : 0;
      assertEquals(step, period.time(), 1e-9, form + " " + rule);
      assertEquals(4, period.microBatches());
      assertEquals(idle, period.idleShare(), 1e-9, form + " " + rule);
    }
  }

  @RepeatedTest(value = 20, name = "seed {currentRepetition}")
  void patternsRunNoSlowerThanTheyWerePlanned(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    int stages = random.nextInt(2, 7);
    int cap = random.nextInt(1, stages + 1);
    double[] forward = random.ints(stages, 1, 6).asDoubleStream().toArray();
    List<StageLoad> loads = new ArrayList<>();
    for (double each : forward) {
      loads.add(new StageLoad(each, 2 * each, 0, 1));
    }
    double[] cuts = new double[stages - 1];
    Period star = of(stages, 1, rounds -> PeriodicPipeline.star(loads, cuts, cap, rounds), forward);
    double[] capacity = new double[2 * stages - 1];
    Arrays.fill(capacity, cap);
    double planned =
        OneForwardOneBackwardStar.bestPeriod(StageLoad.withTransfers(loads, cuts), capacity)
            .orElseThrow();
    assertEquals(planned, star.time() / star.microBatches(), planned * 1e-9);
    Period dropping =
        of(stages, 1, rounds -> PeriodicPipeline.dropping(loads, cuts, cap, rounds), forward);
    double busy = Arrays.stream(forward).sum() * 3 / stages;
    assertEquals(
        1 - busy / (dropping.time() / dropping.microBatches()), dropping.idleShare(), 1e-9);
  }
}
