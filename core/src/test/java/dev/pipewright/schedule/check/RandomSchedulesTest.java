package dev.pipewright.schedule.check;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Picture;
import dev.pipewright.schedule.RandomPrograms;
import dev.pipewright.schedule.RandomPrograms.Part;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.check.Validator.Place;
import dev.pipewright.schedule.check.Validator.Problem;
import dev.pipewright.schedule.check.Validator.Problem.Deadlock;
import dev.pipewright.schedule.search.OncePerStepTimes;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.StaticSimulator;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;

/** What the validator says about any schedule, against {@link Execution}. */
class RandomSchedulesTest {
  private static final List<Pass> EVERY = List.of(Pass.values());

  private static String words(Schedule schedule) {
    return Picture.of(schedule) + Validator.check(schedule);
  }

  /** Of everything that there is; a third without updates and exchanges. */
  private static Schedule schedule(SplittableRandom random) {
    Part[] some = {Part.RECOMPUTED, Part.JOINED};
    Part[] parts = random.nextInt(3) == 0 ? some : Part.values();
    return RandomPrograms.of(random, RandomPrograms.placement(random), random.nextInt(1, 4), parts);
  }

  @RepeatedTest(value = 300, name = "seed {currentRepetition}")
  void whatChanceHasRunCanRun(RepetitionInfo seed) {
    Schedule schedule = schedule(new SplittableRandom(seed.getCurrentRepetition()));
    assertTrue(new Execution(schedule).runs(), () -> words(schedule));
    assertEquals(List.of(), Validator.check(schedule), () -> words(schedule));
  }

  @RepeatedTest(value = 300, name = "seed {currentRepetition}")
  void whatIsChangedIsFoundWhereItKeepsTheScheduleFromRunning(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    Schedule schedule = schedule(random);
    for (int i = 0; i < 10; i++) {
      Schedule changed = changed(schedule, random);
      Execution execution = new Execution(changed);
      boolean runs = execution.runs();
      List<Problem> problems = Validator.check(changed);
      assertEquals(runs, problems.isEmpty(), () -> words(changed));
      if (runs) {
        OpTimes times = OpTimes.equal(changed.stages(), 1, 1, 1, 0);
        assertDoesNotThrow(() -> StaticSimulator.run(changed, times), () -> words(changed));
      }
      for (Problem problem : problems) {
        if (problem instanceof Deadlock deadlock) {
          assertIsRing(deadlock, execution, changed);
        }
      }
    }
  }

  /** What the simulator makes of a schedule is right, and no op could have started earlier. */
  @RepeatedTest(value = 200, name = "seed {currentRepetition}")
  void simulatedTimesAreRightAndEarlierOnesAreFound(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    Schedule schedule = schedule(random);
    int stages = schedule.stages();
    double[] seconds = random.doubles(stages, 1, 2).toArray();
    OpTimes times =
        OpTimes.of(seconds, seconds, seconds, 0)
            .withStep(new OncePerStepTimes(seconds, seconds, seconds, seconds));
    Run run = StaticSimulator.run(schedule, times);
    double[][] starts = new double[schedule.ranks()][];
    double[][] ends = new double[schedule.ranks()][];
    for (int rank = 0; rank < starts.length; rank++) {
      starts[rank] = new double[schedule.packed(rank).length];
      ends[rank] = new double[starts[rank].length];
      for (int i = 0; i < starts[rank].length; i++) {
        starts[rank][i] = run.start(rank, i);
        ends[rank][i] = run.end(rank, i);
      }
    }
    assertEquals(List.of(), Validator.times(schedule, starts, ends, 9), () -> words(schedule));
    for (int rank = 0; rank < starts.length; rank++) {
      long[] program = schedule.packed(rank);
      for (int i = 0; i < program.length; i++) {
        boolean together =
            Schedule.isJoined(program[i]) || (i > 0 && Schedule.isJoined(program[i - 1]));
        boolean collective =
            Schedule.pass(program[i]) == Pass.REDUCE || Schedule.pass(program[i]) == Pass.GATHER;
        if (starts[rank][i] > 0 && !together && !collective) {
          starts[rank][i] -= 1e-3;
          assertEquals(1, Validator.times(schedule, starts, ends, 1).size(), () -> words(schedule));
          starts[rank][i] += 1e-3;
        }
      }
    }
  }

  /** Each waits for what it needs, behind where the next waits, and none of it ever ends. */
  private static void assertIsRing(Deadlock deadlock, Execution execution, Schedule schedule) {
    for (int i = 0; i < deadlock.cycle().size(); i++) {
      Deadlock.Wait wait = deadlock.cycle().get(i);
      Place next = deadlock.cycle().get((i + 1) % deadlock.cycle().size()).at();
      assertFalse(execution.ended(wait.at().rank(), wait.at().position()), deadlock::toString);
      assertFalse(execution.ended(wait.needed().rank(), wait.needed().position()));
      assertEquals(wait.needed().rank(), next.rank());
      assertTrue(next.position() <= wait.needed().position(), () -> words(schedule));
      Execution.At needed = execution.at(wait.needed());
      boolean needs =
          execution.together(execution.at(wait.at())).stream()
              .anyMatch(mate ->
                  mate.equals(needed)
                      || execution.needs(mate).stream().anyMatch(some -> some.contains(needed)));
      assertTrue(needs, () -> words(schedule));
    }
  }

  private static Schedule changed(Schedule schedule, SplittableRandom random) {
    long[][] programs = new long[schedule.ranks()][];
    Arrays.setAll(programs, rank -> schedule.packed(rank).clone());
    int rank = random.nextInt(programs.length);
    while (programs[rank].length == 0) {
      rank = (rank + 1) % programs.length;
    }
    long[] program = programs[rank];
    int at = random.nextInt(program.length);
    switch (random.nextInt(5)) {
      case 0 -> programs[rank] = without(program, at);
      case 1 -> programs[rank] = with(program, random.nextInt(program.length + 1), program[at]);
      case 2 -> {
        int other = random.nextInt(program.length);
        long op = program[at];
        program[at] = program[other];
        program[other] = op;
      }
      case 3 -> {
        int other = random.nextInt(programs.length);
        long op = program[at];
        programs[rank] = without(program, at);
        programs[other] = with(programs[other], random.nextInt(programs[other].length + 1), op);
      }
      default ->
          program[at] =
              Schedule.pack(
                  random.nextInt(4) > 0
                      ? Schedule.pass(program[at])
                      : EVERY.get(random.nextInt(EVERY.size())),
                  random.nextInt(schedule.stages() + 1),
                  Schedule.microBatch(program[at]));
    }
    return new Schedule("changed", schedule.placement(), schedule.microBatches(), programs);
  }

  private static long[] without(long[] program, int at) {
    long[] rest = Arrays.copyOf(program, program.length - 1);
    System.arraycopy(program, at + 1, rest, at, rest.length - at);
    return rest;
  }

  private static long[] with(long[] program, int at, long op) {
    long[] more = Arrays.copyOf(program, program.length + 1);
    System.arraycopy(program, at, more, at + 1, program.length - at);
    more[at] = op;
    return more;
  }
}
