package dev.pipewright.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Program;
import dev.pipewright.schedule.RandomPrograms;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.check.Validator;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.Conditions.Transfers;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class DeadlockTest {
  private static String said(Schedule schedule, Conditions conditions) {
    OpTimes times = OpTimes.equal(schedule.stages(), 1, 1, 1, 1);
    Exception first =
        assertThrows(
            IllegalArgumentException.class, () -> StaticSimulator.run(schedule, times, conditions));
    Exception second =
        assertThrows(
            IllegalArgumentException.class, () -> EventSimulator.run(schedule, times, conditions));
    assertEquals(first.getMessage(), second.getMessage());
    return String.valueOf(first.getMessage());
  }

  /** The order of each rank shuffled: where that cannot run, both say what a check says first. */
  @RepeatedTest(value = 100, name = "seed {currentRepetition}")
  void bothSimulatorsSayWhatACheckSays(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    Schedule good =
        RandomPrograms.of(random, RandomPrograms.publishedPlacement(random), random.nextInt(2, 5));
    long[][] programs = new long[good.ranks()][];
    List<Validator.Problem> problems;
    Schedule schedule;
    do {
      for (int rank = 0; rank < programs.length; rank++) {
        programs[rank] = shuffled(good.packed(rank), random);
      }
      schedule = new Schedule("shuffled", good.placement(), good.microBatches(), programs.clone());
      problems = Validator.check(schedule, 1);
    } while (problems.isEmpty());
    assertEquals(problems.get(0).toString(), said(schedule, Conditions.PLAIN));
  }

  private static long[] shuffled(long[] program, SplittableRandom random) {
    List<Long> ops = new ArrayList<>();
    for (long op : program) {
      ops.add(op);
    }
    Collections.shuffle(ops, new Random(random.nextLong()));
    return ops.stream().mapToLong(op -> op).toArray();
  }

  /**
   * Rank 0 stands still in the sum of a stage's gradients, for which rank 1 has to come; that one
   * waits for the forward pass behind it.
   */
  @Test
  void ranksThatBlockEachOtherAreNamed() {
    Program first = new Program().add(Pass.REDUCE, 3, 0).add(Pass.FORWARD, 0, 0);
    first.add(Pass.FORWARD, 3, 0).add(Pass.BACKWARD, 3, 0).add(Pass.BACKWARD, 0, 0);
    Program second = new Program().add(Pass.FORWARD, 2, 0).add(Pass.FORWARD, 1, 0);
    second.add(Pass.REDUCE, 1, 0).add(Pass.BACKWARD, 1, 0).add(Pass.BACKWARD, 2, 0);
    Schedule schedule =
        new Schedule(
            "early sum", Placement.bothWays(2), 1, new long[][] {first.packed(), second.packed()});
    assertEquals(List.of(), Validator.check(schedule));
    StaticSimulator.run(schedule, OpTimes.equal(4, 1, 1, 1, 1));
    assertEquals(
        "a rank waits for ever: schedule=early sum, rank=0, op=1",
        said(schedule, Conditions.of(Transfers.BLOCKING)));
  }
}
