package dev.pipewright.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.schedule.GPipe;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Program;
import dev.pipewright.schedule.RandomPrograms;
import dev.pipewright.schedule.RandomPrograms.Part;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.check.Validator;
import dev.pipewright.schedule.search.OncePerStepTimes;
import dev.pipewright.schedule.search.OpTimes;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class OutOfOrderTest {
  @RepeatedTest(value = 200, name = "seed {currentRepetition}")
  void theOrderThatRanIsValidAndHoldsNoMore(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    var placement = RandomOrders.placement(random);
    Schedule schedule = RandomOrders.schedule(random, placement, random.nextInt(1, 7));
    int stages = placement.stages();
    OpTimes times =
        OpTimes.of(
            random.doubles(stages, 0.1, 1).toArray(),
            random.doubles(stages, 0.1, 1).toArray(),
            random.doubles(stages, 0.1, 1).toArray(),
            random.nextDouble());
    Conditions looking = Conditions.PLAIN.withLookAhead(random.nextInt(1, 10));
    Run run = EventSimulator.run(schedule, times, looking);
    assertEquals(List.of(), Validator.check(run.schedule()));
    int[] before = StaticSimulator.run(schedule, times).peakActivations();
    int[] after = run.peakActivations();
    for (int rank = 0; rank < before.length; rank++) {
      assertTrue(after[rank] <= before[rank]);
    }
    Run again = StaticSimulator.run(run.schedule(), times);
    assertTrue(again.makespan() <= run.makespan() + 1e-9, "in the order that it ran");
  }

  @RepeatedTest(value = 200, name = "seed {currentRepetition}")
  void exchangesStillWaitForAllThatRanBeforeThem(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    var placement = RandomPrograms.placement(random);
    Schedule schedule =
        RandomPrograms.of(
            random, placement, random.nextInt(1, 5), Part.RECOMPUTED, Part.UPDATES, Part.EXCHANGES);
    double[] seconds = random.doubles(placement.stages(), 0.1, 1).toArray();
    OpTimes times =
        OpTimes.of(seconds, seconds, seconds, random.nextDouble())
            .withStep(new OncePerStepTimes(seconds, seconds, seconds, seconds));
    Conditions looking = Conditions.PLAIN.withLookAhead(random.nextInt(1, 10));
    Run run = EventSimulator.run(schedule, times, looking);
    double[][] starts = new double[schedule.ranks()][];
    double[][] ends = new double[schedule.ranks()][];
    for (int rank = 0; rank < starts.length; rank++) {
      int each = rank;
      starts[rank] = new double[schedule.packed(rank).length];
      ends[rank] = new double[starts[rank].length];
      Arrays.setAll(starts[rank], i -> run.start(each, i));
      Arrays.setAll(ends[rank], i -> run.end(each, i));
    }
    assertEquals(List.of(), Validator.times(run.schedule(), starts, ends, 9));
  }

  @Test
  void aGradientThatIsLateIsOvertakenByAWeightGradient() {
    long[][] programs = new long[2][];
    for (int stage = 0; stage < 2; stage++) {
      Program program = new Program();
      for (Pass pass : List.of(Pass.FORWARD, Pass.BACKWARD_INPUT, Pass.BACKWARD_WEIGHT)) {
        program.add(pass, stage, 0).add(pass, stage, 1);
      }
      programs[stage] = program.packed();
    }
    Schedule schedule = new Schedule("late weights", 2, 2, programs);
    double[] ones = {1, 1};
    OpTimes times = OpTimes.of(ones, new double[] {1, 2}, ones, 0);
    assertEquals(10, StaticSimulator.run(schedule, times).makespan());
    Run run = EventSimulator.run(schedule, times, Conditions.PLAIN.withLookAhead(1));
    assertEquals(9, run.makespan());
    assertEquals("[F0, F1, I0, W0, I1, W1]", run.schedule().program(0).toString());
  }

  @Test
  void nothingChangesWhereNothingWaits() {
    Schedule schedule = GPipe.of(1, 4);
    OpTimes times = OpTimes.equal(1, 1, 1, 1, 0);
    Run run = EventSimulator.run(schedule, times, Conditions.PLAIN.withLookAhead(8));
    assertEquals(schedule.program(0), run.schedule().program(0));
  }
}
