package dev.pipewright.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.schedule.Op.Pass;
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
        List.of("stage 0 never runs B1", "stage 1 never runs F1"),
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
            "stage 1 never runs F0",
            "stage 1 never runs B0"),
        check(new Schedule("test", 2, 1, programs)));
  }

  @Test
  void aMicroBatchThatIsNotThereIsNamed() {
    assertEquals(
        List.of("rank 0 runs F1 of stage 0, which is not its own"),
        problems(1, new long[] {F0, F1, B0}));
  }

  @Test
  void aBackwardPassBeforeItsForwardPassNeverRuns() {
    assertEquals(
        List.of("rank 0 waits for ever before B0 of stage 0"), problems(1, new long[] {B0, F0}));
  }

  @Test
  void stagesThatWaitForEachOtherNeverRun() {
    assertEquals(
        List.of("rank 0 waits for ever before B0 of stage 0"),
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
    assertEquals("[stage 0 never runs W0]", oneStage(halves).toString());
    halves.add(Pass.BACKWARD_WEIGHT, 0, 0);
    assertEquals("[]", oneStage(halves).toString());
    halves.add(Pass.BACKWARD, 0, 0);
    assertEquals("[rank 0 runs B0 of stage 0 again]", oneStage(halves).toString());
  }

  @Test
  void theWeightsGradientNeedsTheInputsFirst() {
    Program wrong = new Program().add(Pass.FORWARD, 0, 0);
    wrong.add(Pass.BACKWARD_WEIGHT, 0, 0).add(Pass.BACKWARD_INPUT, 0, 0);
    assertEquals("[rank 0 waits for ever before W0 of stage 0]", oneStage(wrong).toString());
  }

  @Test
  void opsThatRunTogetherWaitForEachOthersInputs() {
    Program joined = new Program().add(Pass.FORWARD, 0, 0).join().add(Pass.BACKWARD, 0, 0);
    assertEquals("[rank 0 waits for ever before F0 of stage 0]", oneStage(joined).toString());
  }
}
