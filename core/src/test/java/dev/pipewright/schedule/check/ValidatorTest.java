package dev.pipewright.schedule.check;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Program;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.ZeroBubbleH1;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class ValidatorTest {
  private static final long F0 = Schedule.pack(Pass.FORWARD, 0, 0);
  private static final long B0 = Schedule.pack(Pass.BACKWARD, 0, 0);
  private static final long F1 = Schedule.pack(Pass.FORWARD, 0, 1);
  private static final long B1 = Schedule.pack(Pass.BACKWARD, 0, 1);

  /** What is wrong with stages that run ops written as for stage 0. */
  private static List<String> problems(int microBatches, long[]... programs) {
    long[][] own = new long[programs.length][];
    for (int rank = 0; rank < programs.length; rank++) {
      long stage = (long) rank << 32;
      own[rank] = Arrays.stream(programs[rank]).map(op -> op + stage).toArray();
    }
    return check(new Schedule("test", programs.length, microBatches, own));
  }

  private static List<String> check(Schedule schedule) {
    return Validator.check(schedule).stream().map(Object::toString).toList();
  }

  @Test
  void whatCanRunHasNoProblem() {
    long[] program = {F0, F1, B0, B1};
    assertEquals(List.of(), problems(2, program, program));
  }

  @Test
  void missingWorkIsNamed() {
    assertEquals(
        List.of("no rank runs B1 of stage 0", "no rank runs F1 of stage 1"),
        problems(2, new long[] {F0, F1, B0}, new long[] {F0, B0, B1}));
  }

  @Test
  void workDoneTwiceIsNamed() {
    assertEquals(
        List.of("rank 1 runs F0 of stage 1 again"),
        problems(1, new long[] {F0, B0}, new long[] {F0, F0, B0}));
  }

  @Test
  void workOfAnotherStageIsNamed() {
    long[][] programs = {{F0, B0}, {F0, B0}};
    assertEquals(
        List.of(
            "rank 1 runs F0 of stage 0, which is not its own",
            "rank 1 runs B0 of stage 0, which is not its own",
            "no rank runs F0 of stage 1",
            "no rank runs B0 of stage 1"),
        check(new Schedule("test", 2, 1, programs)));
  }

  @Test
  void aMicroBatchThatIsNotThereIsNamed() {
    assertEquals(
        List.of("rank 0 runs F1 of stage 0, which is not its own"),
        problems(1, new long[] {F0, F1, B0}));
  }

  @Test
  void aBackwardPassBeforeItsForwardPassIsAWrongOrder() {
    assertEquals(
        List.of("rank 0 runs B0 of stage 0 before F0 of stage 0, which it needs"),
        problems(1, new long[] {B0, F0}));
  }

  @Test
  void stagesThatWaitForEachOtherNeverRun() {
    assertEquals(
        List.of(
            "rank 0 waits for ever before B0 of stage 0: it needs B0 of stage 1, which rank 1 runs"
                + " after F1 of stage 1; that needs F1 of stage 0, which rank 0 runs after B0 of"
                + " stage 0"),
        problems(2, new long[] {F0, B0, F1, B1}, new long[] {F1, B1, F0, B0}));
  }

  @Test
  void packedOpsKeepTheirParts() {
    long op = Schedule.pack(Pass.BACKWARD, 4095, 1 << 20);
    assertEquals(Pass.BACKWARD, Schedule.pass(op));
    assertEquals(4095, Schedule.stage(op));
    assertEquals(1 << 20, Schedule.microBatch(op));
  }

  private static List<Validator.Problem> oneStage(Program program) {
    return Validator.check(
        new Schedule("halves", Placement.straight(1), 1, new long[][] {program.packed()}));
  }

  @Test
  void aBackwardPassIsWholeOrBothHalves() {
    Program halves = new Program().add(Pass.FORWARD, 0, 0);
    halves.add(Pass.BACKWARD_INPUT, 0, 0);
    assertEquals("[no rank runs W0 of stage 0]", oneStage(halves).toString());
    halves.add(Pass.BACKWARD_WEIGHT, 0, 0);
    assertEquals("[]", oneStage(halves).toString());
    halves.add(Pass.BACKWARD, 0, 0);
    assertEquals("[rank 0 runs B0 of stage 0 again]", oneStage(halves).toString());
  }

  @Test
  void theWeightsGradientNeedsTheInputsFirst() {
    Program wrong = new Program().add(Pass.FORWARD, 0, 0);
    wrong.add(Pass.BACKWARD_WEIGHT, 0, 0).add(Pass.BACKWARD_INPUT, 0, 0);
    assertEquals(
        "[rank 0 runs W0 of stage 0 before I0 of stage 0, which it needs]",
        oneStage(wrong).toString());
  }

  @Test
  void opsThatRunTogetherDoNotWaitForEachOther() {
    Program joined = new Program().add(Pass.FORWARD, 0, 0).join().add(Pass.BACKWARD, 0, 0);
    assertEquals(
        "[rank 0 runs B0 of stage 0 together with F0 of stage 0, which it needs first]",
        oneStage(joined).toString());
  }

  private static String both(Program first, Program second) {
    long[][] programs = {first.packed(), second.packed()};
    return check(new Schedule("both", Placement.bothWays(2), 1, programs)).toString();
  }

  /** Both ranks' passes of one micro-batch each way: stage 0 and 3 on rank 0, 1 and 2 on rank 1. */
  private static Program rank(int rank) {
    Program program = new Program();
    if (rank == 0) {
      return program
          .add(Pass.FORWARD, 0, 0)
          .add(Pass.FORWARD, 3, 0)
          .add(Pass.BACKWARD, 3, 0)
          .add(Pass.BACKWARD, 0, 0);
    }
    return program
        .add(Pass.FORWARD, 2, 0)
        .add(Pass.FORWARD, 1, 0)
        .add(Pass.BACKWARD, 1, 0)
        .add(Pass.BACKWARD, 2, 0);
  }

  @Test
  void stagesOfSeveralChainsAreCountedInTheirChain() {
    assertEquals("[]", both(rank(0), rank(1)));
    assertEquals(
        "[rank 0 runs F0 of stage 1 in chain 1 again]",
        both(rank(0).add(Pass.FORWARD, 3, 0), rank(1)));
  }

  @Test
  void everyRankWithAStageTakesPartInItsCollectives() {
    assertEquals("[]", both(rank(0).add(Pass.REDUCE, 0, 5), rank(1).add(Pass.REDUCE, 2, 5)));
    assertEquals(
        "[rank 1 takes no part in A5 of stage 0 in chain 1, where rank 0 waits for it]",
        both(rank(0).add(Pass.REDUCE, 0, 5), rank(1)));
    assertEquals(
        "[rank 0 runs G0 of stage 1 in chain 1 again]",
        both(
            rank(0).add(Pass.GATHER, 3, 0).add(Pass.GATHER, 3, 0), rank(1).add(Pass.GATHER, 1, 0)));
  }

  @Test
  void collectivesInDifferentOrdersWaitForEachOther() {
    assertEquals(
        "[rank 0 waits for ever before A0 of stage 0 in chain 0: it needs A0 of stage 0 in chain 1,"
            + " which rank 1 runs after A0 of stage 1 in chain 0; that needs A0 of stage 1 in chain"
            + " 1, which rank 0 runs after A0 of stage 0 in chain 0]",
        both(
            rank(0).add(Pass.REDUCE, 0, 0).add(Pass.REDUCE, 3, 0),
            rank(1).add(Pass.REDUCE, 1, 0).add(Pass.REDUCE, 2, 0)));
  }

  @Test
  void turnsAreCountedFromZeroWithoutGapOrRepetition() {
    assertEquals(
        "[no rank runs H0 of stage 0 in chain 0]", both(rank(0).add(Pass.HAND_ON, 0, 1), rank(1)));
    assertEquals(
        "[rank 1 runs H0 of stage 0 in chain 1 again]",
        both(rank(0).add(Pass.HAND_ON, 0, 0), rank(1).add(Pass.HAND_ON, 2, 0)));
    assertEquals(
        "[rank 0 computes nothing of the stage behind H0 of stage 0 in chain 0, so that H1 of stage"
            + " 0 in chain 1 on rank 1 waits for ever]",
        both(rank(0).add(Pass.HAND_ON, 0, 0), rank(1).add(Pass.HAND_ON, 2, 1)));
    assertEquals(
        "[]",
        both(
            rank(0).add(Pass.HAND_ON, 0, 0).add(Pass.UPDATE, 0, 0),
            rank(1).add(Pass.HAND_ON, 2, 1)));
  }

  @Test
  void aRecomputationStandsBetweenItsPasses() {
    Program behind = new Program().add(Pass.FORWARD, 0, 0).add(Pass.BACKWARD, 0, 0);
    behind.add(Pass.RECOMPUTE, 0, 0);
    assertEquals(
        "[rank 0 runs R0 of stage 0 behind B0 of stage 0, which it is for]",
        oneStage(behind).toString());
    Program twice = new Program().add(Pass.FORWARD, 0, 0).add(Pass.RECOMPUTE, 0, 0);
    twice.add(Pass.RECOMPUTE, 0, 0).add(Pass.BACKWARD, 0, 0);
    assertEquals("[rank 0 runs R0 of stage 0 again]", oneStage(twice).toString());
  }

  @Test
  void updatesAreNumbered() {
    Program program = new Program().add(Pass.FORWARD, 0, 0).add(Pass.BACKWARD, 0, 0);
    program.add(Pass.UPDATE, 0, 7).add(Pass.UPDATE, 0, 8);
    assertEquals("[]", oneStage(program).toString());
    program.add(Pass.UPDATE, 0, 7);
    assertEquals("[rank 0 runs U7 of stage 0 again]", oneStage(program).toString());
  }

  @Test
  void theMomentWhenARankHoldsTooMuchIsNamed() {
    Schedule schedule = OneForwardOneBackward.of(2, 4);
    double[][] starts = new double[2][8];
    Arrays.setAll(starts[0], i -> i);
    assertEquals(List.of(), Validator.overCap(schedule, starts, 1, new double[] {2, 2}));
    assertEquals(
        "[rank 0 holds 2 activations at 1.0 s, the cap is 1, from F1 of stage 0 on; raise the cap to"
            + " 2, the most it ever holds, or run a backward pass first]",
        Validator.overCap(schedule, starts, 1, new double[] {1, 1}).toString());
    assertEquals(List.of(), Validator.overCap(schedule, starts, 2, new double[] {1, 1}));
  }

  @Test
  void noMoreProblemsAreListedThanWanted() {
    Schedule empty = new Schedule("empty", Placement.straight(4), 1000, new long[4][0]);
    assertEquals(3, Validator.check(empty, 3).size());
    assertEquals(8000, Validator.check(empty).size());
  }

  @Test
  void aLongScheduleIsRight() {
    assertEquals(List.of(), Validator.check(ZeroBubbleH1.of(64, 4096)));
  }
}
