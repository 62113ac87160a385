package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.app.cli.input.RecomputeFlag;
import dev.pipewright.app.cli.schedule.ScheduleNames;
import dev.pipewright.app.cli.schedule.ScheduleRequest;
import dev.pipewright.app.cli.schedule.ScheduleRequest.Times;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.schedule.Diagram;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.Op;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Recomputed;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.StaticSimulator;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class ScheduleNamesTest {
  private static ScheduleRequest request(
      String name, int stages, int microBatches, String times, double cap) {
    int chunks = ScheduleNames.find(name).chunks(name, OptionalInt.empty());
    return new ScheduleRequest(stages, microBatches, chunks, Times.of(times, stages), cap);
  }

  private static Schedule schedule(
      String name, int stages, int microBatches, String times, double cap) {
    return ScheduleNames.find(name)
        .generator()
        .apply(request(name, stages, microBatches, times, cap))
        .schedule();
  }

  private static Schedule schedule(String name, int stages, int microBatches) {
    return schedule(name, stages, microBatches, "1,1,1,0", Double.POSITIVE_INFINITY);
  }

  private static String refusal(String name, int stages, int microBatches) {
    String message =
        String.valueOf(
            assertThrows(BadInputException.class, () -> schedule(name, stages, microBatches))
                .getMessage());
    assertTrue(message.contains("; "), "no remedy: " + message);
    return message;
  }

  static Stream<String> names() {
    return Stream.concat(ScheduleNames.all().stream(), ScheduleNames.forms().stream());
  }

  @ParameterizedTest
  @MethodSource("names")
  void everyNameMakesAScheduleThatDoesEachPassOnceAndRuns(String name) {
    Schedule schedule = schedule(name, 4, 8);
    long forward = count(schedule, Op.Pass.FORWARD);
    int chunks = ScheduleNames.find(name).chunks(name, OptionalInt.empty());
    assertEquals(4L * 8 * chunks, forward);
    OpTimes times = request(name, 4, 8, "1,1,1,0", 99).opTimes(schedule.placement());
    var run = StaticSimulator.run(schedule, times);
    assertTrue(run.makespan() * schedule.ranks() >= 4 * 8 * 3, "" + run.makespan());
  }

  private static long count(Schedule schedule, Op.Pass pass) {
    long count = 0;
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      count += schedule.program(rank).stream().filter(op -> op.pass() == pass).count();
    }
    return count;
  }

  @Test
  void formsOfCyclicDataParallelismRunOnOtherNumbersOfRanks() {
    assertEquals(1, schedule("cyclic-v1-single", 4, 8).ranks());
    assertEquals(10, schedule("cyclic-v2-pyramid", 4, 8).ranks());
    assertEquals(4, schedule("cyclic-v2-pipeline", 4, 8).ranks());
    assertEquals(4, schedule("cyclic-v1-zero", 4, 8).ranks());
    for (String name : ScheduleNames.all()) {
      assertEquals(4, schedule(name, 4, 8).ranks(), name);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"dp", "zero-dp", "cyclic-zero-dp", "cyclic-v1", "cyclic-v2-pyramid"})
  void workersTakeOneMicroBatchEachInAStep(String name) {
    assertEquals(
        "--micro-batches: %s has a worker for each of 4 stages, which take one micro-batch each in"
                .formatted(name)
            + " a step, so 6 are refused; take 8",
        refusal(name, 4, 6));
  }

  @ParameterizedTest
  @CsvSource({"4, 8", "6, 8", "9, 12", "1, 8", "8, 8"})
  void twoBuffersNeedTwoUpdatesAtLeast(int microBatches, int remedy) {
    if (microBatches == remedy) {
      assertEquals(2 * 4, count(schedule("pipedream-2bw", 4, microBatches), Op.Pass.UPDATE));
      return;
    }
    if (microBatches == 4) {
      assertTrue(refusal("pipedream-2bw", 4, 4).endsWith("so 4 are refused; take 8"));
      return;
    }
    assertEquals(
        "--micro-batches: pipedream-2bw updates after every 4 micro-batches, one per stage, twice"
            + " at least, so %d are refused; take %d".formatted(microBatches, remedy),
        refusal("pipedream-2bw", 4, microBatches));
  }

  /** Four equal stages form one, two or four groups; of batches that are dropped, every fourth. */
  @ParameterizedTest
  @CsvSource({"1, 1, 1", "2, 2, 2", "3, 2, 3", "4, 4, 3", "5, 4, 3"})
  void aCapMakesPeriodicSchedulesHoldLess(int cap, int star, int dropping) {
    assertEquals(star, most(schedule("1f1b-star", 4, 12, "1,1,1,0", cap + 0.5)));
    assertEquals(dropping, most(schedule("k-periodic", 4, 12, "1,1,1,0", cap + 0.5)));
  }

  private static int most(Schedule schedule) {
    var run = StaticSimulator.run(schedule, OpTimes.equal(4, 1, 1, 1, 0));
    return Arrays.stream(run.peakActivations()).max().orElseThrow();
  }

  @Test
  void transfersMayDifferByCut() {
    OpTimes times = request("1f1b", 3, 4, "1,1,1,0.5:2", 9).opTimes(Placement.straight(3));
    assertEquals(0.5, times.there()[0]);
    assertEquals(2, times.back()[1]);
    OpTimes around = request("interleaved", 3, 4, "1,1,1,0.5:2", 9).opTimes(Placement.looped(3, 2));
    assertEquals(2, around.there()[2], "from the last rank to the first: the longest");
    assertEquals(0.5, around.there()[3]);
    OpTimes one = request("1f1b", 3, 4, "1,1,1,0.5", 9).opTimes(Placement.straight(3));
    assertEquals(0.5, one.there()[1]);
    String message =
        assertThrows(BadInputException.class, () -> Times.of("1,1,1,1:2:3", 3)).getMessage();
    assertEquals(
        "--times: comm=1:2:3 holds 3 values for 2 cuts between stages; give one number, or one per"
            + " cut like 1:2:1",
        message);
  }

  @Test
  void recomputationIsAskedForByStage() {
    assertEquals(Set.of(), RecomputeFlag.of("none", 4).stages());
    assertEquals(Set.of(0, 1, 2, 3), RecomputeFlag.of("all", 4).stages());
    assertEquals(Set.of(0), RecomputeFlag.of("all", 1).stages());
    assertEquals(Set.of(0, 2, 3), RecomputeFlag.of("0,2-3", 4).stages());
    assertEquals(Set.of(1), RecomputeFlag.of(" 1 ,1-1", 4).stages());
    assertEquals(
        """
        0 | F0 F1 B0 B1
        1 | F0 R0 B0 F1 R1 B1
        """,
        Diagram.of(recomputed("1", 2, OneForwardOneBackward.of(2, 2))));
    assertEquals(
        """
        0 | F0 F1 R0 B0 B1
        1 | F0 R0 B0 F1 B1
        """,
        Diagram.of(recomputed("except-last", 2, OneForwardOneBackward.of(2, 2))));
  }

  private static Schedule recomputed(String words, int stages, Schedule schedule) {
    int[] shareOf = ScheduleRequest.shareOf(schedule.placement());
    return Recomputed.of(
        schedule, RecomputeFlag.of(words, stages).selector(shareOf, schedule.microBatches()));
  }

  @Test
  void ofAStageInChunksAllAreRecomputed() {
    Schedule schedule = recomputed("1", 4, schedule("interleaved", 4, 8));
    assertEquals(2 * 8, count(schedule, Op.Pass.RECOMPUTE));
    for (String name : List.of("chimera", "cyclic-v2-pyramid", "dp", "pipedream", "zb-v")) {
      int chunks = ScheduleNames.find(name).chunks(name, OptionalInt.empty());
      Schedule again = recomputed("0,3", 4, schedule(name, 4, 8));
      assertEquals(2L * 8 * chunks, count(again, Op.Pass.RECOMPUTE), name);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "4", "-1", "2-1", "0,", "some", "0-4", "1.5", "99999999999999", "0;1", "All"})
  void stagesThatThereAreNotAreRefused(String text) {
    String message =
        String.valueOf(
            assertThrows(BadInputException.class, () -> RecomputeFlag.of(text, 4)).getMessage());
    assertTrue(
        message.endsWith(
            "' names no stages; write none, all, except-last, or stages from 0 to 3 like 0,1 or 0-3"),
        message);
    assertTrue(message.startsWith("--recompute: '"), message);
  }

  @RepeatedTest(value = 100, name = "seed {currentRepetition}")
  void anyRequestIsAnsweredOrRefusedInASentence(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    List<String> all = new ArrayList<>(names().toList());
    String name = all.get(random.nextInt(all.size()));
    List<String> args =
        new ArrayList<>(
            List.of(
                "schedule",
                name,
                "--stages",
                "" + random.nextInt(1, 7),
                "--micro-batches",
                "" + random.nextInt(1, 30)));
    if (random.nextBoolean()) {
      args.addAll(List.of("--memory-cap", "" + random.nextDouble(1, 9)));
    }
    if (random.nextBoolean()) {
      args.addAll(List.of("--times", "0," + random.nextInt(2) + ",1,0." + random.nextInt(9)));
    }
    Cli run = Cli.run(args.toArray(new String[0]));
    assertTrue(run.status() <= 2, run.err());
    if (run.status() == 2) {
      run.refusal(2);
    }
  }

  @Test
  void aNameThatIsNearlyAFormIsAnsweredByIt() {
    Cli.run("schedule", "cyclic-v1-pyramids", "--stages", "2", "--micro-batches", "4")
        .refusal(2, "did you mean \"cyclic-v1-pyramid\"?");
  }
}
