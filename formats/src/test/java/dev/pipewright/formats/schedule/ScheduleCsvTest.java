package dev.pipewright.formats.schedule;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.Refusal;
import dev.pipewright.formats.file.TextLines;
import dev.pipewright.schedule.DualPipeV;
import dev.pipewright.schedule.GPipe;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Program;
import dev.pipewright.schedule.Schedule;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ScheduleCsvTest {
  @TempDir Path folder;

  private Path file(String text) {
    return Refusal.file(folder, "s.csv", text);
  }

  private List<String> problems(String text) {
    Path file = file(text);
    return ScheduleCsv.read(file).problems().stream()
        .map(problem -> problem.toString().replace(file.toString(), "s.csv"))
        .toList();
  }

  private void refused(String expected, String text) {
    Refusal.assertRefused(expected, file(text), ScheduleCsv::read);
  }

  @Test
  void oneForwardOneBackwardIsWrittenAsPyTorchDoes() {
    assertEquals(
        """
        0F0,0F1,0B0,0F2,0B1,0B2
        1F0,1B0,1F1,1B1,1F2,1B2
        """,
        ScheduleCsv.text(OneForwardOneBackward.of(2, 3)));
  }

  @Test
  void anOutputIsSentBehindItsPassAndReceivedAtTheSameTurn() {
    assertEquals(
        """
        0UNSHARD,0F0,0SEND_F0,0RECV_B0,0B0,0REDUCE_GRAD,0RESHARD
        1UNSHARD,1RECV_F0,1F0,1B0,1SEND_B0,1REDUCE_GRAD,1RESHARD
        """,
        ScheduleCsv.textWithTransfers(GPipe.of(2, 1)));
  }

  /** Ranks that own some stages each and shuffle what they do: mostly a deadlock, never lost. */
  @RepeatedTest(50)
  void whatIsWrittenIsReadBackTheSame(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    int ranks = random.nextInt(1, 4);
    int chunks = random.nextInt(1, 4);
    int microBatches = random.nextInt(1, 5);
    Placement placement =
        random.nextBoolean() ? Placement.looped(ranks, chunks) : Placement.waves(ranks, chunks);
    Program[] programs = new Program[ranks];
    java.util.Arrays.setAll(programs, rank -> new Program());
    for (int i = 0; i < placement.stages() * microBatches; i++) {
      int stage = i % placement.stages();
      Program program = programs[placement.rankOf(stage)];
      program.add(Pass.FORWARD, stage, i / placement.stages());
      if (random.nextBoolean()) {
        program.join().add(Pass.BACKWARD, stage, i / placement.stages());
      } else {
        program.add(Pass.BACKWARD_INPUT, stage, i / placement.stages());
        program.add(Pass.BACKWARD_WEIGHT, stage, i / placement.stages());
      }
    }
    long[][] packed = java.util.Arrays.stream(programs).map(Program::packed).toArray(long[][]::new);
    Schedule written = new Schedule("random", placement, microBatches, packed);
    Schedule read = ScheduleCsv.read(file(ScheduleCsv.text(written))).schedule();
    assertEquals(ranks, read.ranks());
    assertEquals(microBatches, read.microBatches());
    for (int rank = 0; rank < ranks; rank++) {
      assertArrayEquals(written.packed(rank), read.packed(rank));
    }
    for (int stage = 0; stage < placement.stages(); stage++) {
      assertEquals(placement.rankOf(stage), read.placement().rankOf(stage));
    }
  }

  @Test
  void emptyCellsAndSpacesDoNotMatter() {
    assertEquals(List.of(), problems("0F0,,,0B0\n , 1F0 ,1B0,,\n\n"));
  }

  @Test
  void whatIsMissingIsFound() {
    assertEquals(List.of("s.csv:1: no rank runs B0 of stage 0"), problems("0F0\n1F0,1B0\n"));
    assertEquals(List.of("s.csv:2: no rank runs W0 of stage 1"), problems("0F0,0B0\n1F0,1I0\n"));
  }

  @Test
  void whatIsThereTwiceIsFoundAtItsSecondPlace() {
    assertEquals(
        List.of("s.csv:1:9: rank 0 runs F0 of stage 0 again"), problems("0F0,0B0,0F0\n1F0,1B0\n"));
  }

  @Test
  void aStageOnTwoRanksIsFound() {
    assertEquals(
        List.of(
            "s.csv:2:9: rank 1 runs B1 of stage 0, which is not its own",
            "s.csv:1: no rank runs B1 of stage 0"),
        problems("0F0,0F1,0B0\n1F0,1B0,0B1,1F1,1B1\n"));
  }

  @Test
  void aWrongOrderOnARankIsFoundWhereItBegins() {
    assertEquals(
        List.of("s.csv:1:1: rank 0 runs B0 of stage 0 before F0 of stage 0, which it needs"),
        problems("0B0,0F0\n1F0,1B0\n"));
  }

  @Test
  void aDeadlockIsSpeltOutWithEveryPlace() {
    Path file = file("0F0,0B0,0F1,0B1\n1F1,1B1,1F0,1B0\n");
    FileProblem problem = ScheduleCsv.read(file).problems().get(0);
    assertEquals(
        file
            + ":1:5: rank 0 waits for ever before B0 of stage 0: it needs B0 of stage 1, which"
            + " rank 1 runs after F1 of stage 1; that needs F1 of stage 0, which rank 0 runs after"
            + " B0 of stage 0",
        problem.toString());
    assertEquals(
        List.of(
            file + ":1:5: rank 0 waits with B0 of stage 0 for B0 of stage 1 on rank 1",
            file + ":2:1: rank 1 waits with F1 of stage 1 for F1 of stage 0 on rank 0"),
        problem.ring());
  }

  @Test
  void aStageComputesOnlyWhileItsParametersAreGathered() {
    assertEquals(
        List.of("s.csv:1:23: 0B0 computes without the parameters of 0UNSHARD"),
        problems("0UNSHARD,0F0,0RESHARD,0B0\n"));
    assertEquals(
        List.of("s.csv:1:1: 0REDUCE_GRAD adds up gradients that are not computed yet"),
        problems("0REDUCE_GRAD,0F0,0B0\n"));
    assertEquals(
        List.of("s.csv:2:1: 0UNSHARD stands in another rank's line"),
        problems("0F0,0B0\n0UNSHARD,1F0,1B0\n"));
  }

  @Test
  void pyTorchsBlanksAroundOverlappedActionsDoNotMatter() {
    assertEquals(List.of(), problems("0F0,1F0,( 0F1 ; 1B0 )OVERLAP_F_B,1F1,1B1,0B0,0B1\n"));
  }

  @Test
  void aLongListOfProblemsIsShortened() {
    List<String> problems = problems("0F99,0B99\n");
    assertEquals(21, problems.size());
    assertEquals("s.csv: there are more problems; correct these first", problems.get(20));
  }

  @Test
  void aSendWithoutItsReceiveIsFoundAndTheOtherWayRound() {
    assertEquals(
        List.of(
            "s.csv:1:5: 0SEND_F0 is never received",
            "s.csv:2:1: 1F0 computes on what was not received"),
        problems("0F0,0SEND_F0,0RECV_B0,0B0\n1F0,1B0,1SEND_B0\n"));
    assertEquals(
        List.of("s.csv:2:1: 1RECV_F0 waits for what no rank sends"),
        problems("0F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n"));
  }

  @Test
  void aTransferBeforeItsPassOrBehindItIsFound() {
    assertEquals(
        List.of("s.csv:1:1: 0SEND_F0 sends what is not computed yet"),
        problems("0SEND_F0,0F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n"));
    assertEquals(
        List.of("s.csv:2:1: 1F0 computes on what was not received"),
        problems("0F0,0SEND_F0,0RECV_B0,0B0\n1F0,1RECV_F0,1B0,1SEND_B0\n"));
  }

  @Test
  void aReceiveThatWaitsForEverIsFound() {
    assertEquals(
        List.of(
            "s.csv:1:1: rank 0 waits for ever in 0RECV_B0: it needs 1SEND_B0, which rank 1 runs"
                + " after 1RECV_F0; that needs 0SEND_F0, which rank 0 runs after 0RECV_B0"),
        problems("0RECV_B0,0F0,0SEND_F0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n"));
  }

  @Test
  void aTransferBeyondTheEndsOrInAnotherLineIsFound() {
    assertEquals(
        List.of("s.csv:1:1: 0RECV_F0 has no other side: there is no such stage"),
        problems("0RECV_F0,0F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n"));
    List<String> elsewhere = problems("0F0,1RECV_F0,0SEND_F0,0RECV_B0,0B0\n1F0,1B0,1SEND_B0\n");
    assertTrue(
        elsewhere.contains("s.csv:1:5: 1RECV_F0 stands in another rank's line"),
        elsewhere.toString());
  }

  @Test
  void anUnknownActionIsRefusedAtItsPlace() {
    refused(
        "s.csv:2:5: unknown action 'X' in '1X0'; one of F, B, I, W, SEND_F, RECV_F, SEND_B, RECV_B,"
            + " UNSHARD, RESHARD, REDUCE_GRAD",
        "0F0,0B0\n1F0,1X0\n");
    refused("s.csv:1:6: 'hello' is no action; write one like 3F0 or 3RECV_B0", "0F0, hello,0B0\n");
    refused("s.csv:1:1: '0F' names no micro-batch; write one like 0F0", "0F,0B0\n");
    refused("s.csv:1:1: '0UNSHARD3' names a micro-batch; write 0UNSHARD", "0UNSHARD3\n");
    refused(
        "s.csv:1:6: '1SEND_F0' cannot overlap; overlap a forward with a backward pass",
        "(0F0;1SEND_F0)OVERLAP_F_B\n");
  }

  @Test
  void numbersBeyondAllReasonAreRefused() {
    refused(
        "s.csv:1:1: 99999999999 in '0F99999999999' is more than can be checked; count below 1048576",
        "0F99999999999\n");
    refused(
        "s.csv:1: names 60001 stages and 1000001 micro-batches, more than can be checked; take at"
            + " most 8388608 in all",
        "60000F1000000\n");
  }

  @Test
  void anEmptyFileIsRefused() {
    refused("s.csv:1: holds no action; write a line for each rank, like 0F0,0B0", ",,\n");
  }

  @Test
  void twoPipelinesAtOnceCannotBeWritten() {
    Schedule both = new Schedule("both", Placement.bothWays(1), 1, new long[1][0]);
    assertThrows(BadInputException.class, () -> ScheduleCsv.text(both));
    assertThrows(BadInputException.class, () -> ScheduleCsv.textWithTransfers(both));
  }

  @Test
  void whatPyTorchHasNoActionForCannotBeWritten() {
    for (Pass pass : List.of(Pass.RECOMPUTE, Pass.UPDATE, Pass.REDUCE, Pass.HAND_ON)) {
      Program program = new Program().add(Pass.FORWARD, 0, 0).add(pass, 0, 0);
      Schedule schedule =
          new Schedule(
              "s",
              Placement.straight(1),
              1,
              new long[][] {program.add(Pass.BACKWARD, 0, 0).packed()});
      BadInputException e = assertThrows(BadInputException.class, () -> ScheduleCsv.text(schedule));
      assertTrue(String.valueOf(e.getMessage()).contains("which PyTorch's files cannot say"));
    }
  }

  @Test
  void aScheduleIsToldFromOtherFiles() {
    assertTrue(ScheduleCsv.isSchedule(file(",,0F0,0B0\n")));
    assertTrue(ScheduleCsv.isSchedule(file("0UNSHARD,4UNSHARD\n")));
    assertTrue(ScheduleCsv.isSchedule(file("(0F7;7B3)OVERLAP_F_B\n")));
    assertFalse(ScheduleCsv.isSchedule(file("{\"schedule\": \"1f1b\"}\n")));
    assertFalse(ScheduleCsv.isSchedule(file("id,iteration_s\n1,2\n")));
    assertFalse(ScheduleCsv.isSchedule(folder.resolve("none.csv")));
  }

  @Test
  void aScheduleIsToldFromItsHeadAlone() {
    assertTrue(ScheduleCsv.isSchedule(file("0F0" + ",0F1".repeat(1 << 16))));
    assertTrue(ScheduleCsv.isSchedule(file("\uFEFF\n\n0F0,0B0\nmore")));
    assertFalse(ScheduleCsv.isSchedule(file("0F0,\0\1\2\n")));
  }

  /** More than a million characters in a line. */
  @Test
  void aLongLineIsReadBack() {
    Schedule written = OneForwardOneBackward.of(1, 70_000);
    Path file = file(ScheduleCsv.text(written));
    assertTrue(file.toFile().length() > TextLines.LONGEST_LINE);
    assertArrayEquals(written.packed(0), ScheduleCsv.read(file).schedule().packed(0));
  }

  @Test
  void aLineThatIsMissingIsFoundWhereOthersNeedIt() {
    List<String> v = ScheduleCsv.text(DualPipeV.of(3, 6)).lines().toList();
    String missing =
        "s.csv: no rank runs stage %d, but there are stages 0..5; the line of its rank is missing";
    assertEquals(
        List.of(missing.formatted(2), missing.formatted(3)),
        problems(v.get(0) + "\n" + v.get(1) + "\n"));
    assertEquals(
        List.of(
            "s.csv: no rank runs stage 0, but there are stages 0..1; the line of its rank is"
                + " missing"),
        problems("1F0,1B0\n"));
    String sent = ScheduleCsv.textWithTransfers(OneForwardOneBackward.of(2, 1));
    assertEquals(
        List.of(
            "s.csv:1:14: 0SEND_F0 has no other side: there is no such stage",
            "s.csv:1:23: 0RECV_B0 has no other side: there is no such stage"),
        problems(sent.lines().findFirst().orElseThrow() + "\n"));
  }

  @Test
  void aLineThatEndsBeforeItsGradientsAreAddedUpIsFound() {
    String sent = ScheduleCsv.textWithTransfers(OneForwardOneBackward.of(2, 1));
    assertEquals(List.of(), problems(sent));
    assertEquals(
        List.of("s.csv:2: the line ends without 1REDUCE_GRAD, though other stages have theirs"),
        problems(sent.replace(",1REDUCE_GRAD,1RESHARD", "")));
  }
}
