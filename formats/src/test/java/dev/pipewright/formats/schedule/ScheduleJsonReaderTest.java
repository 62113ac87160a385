package dev.pipewright.formats.schedule;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.formats.file.Refusal;
import dev.pipewright.schedule.Chimera;
import dev.pipewright.schedule.DualPipe;
import dev.pipewright.schedule.DualPipeV;
import dev.pipewright.schedule.GPipe;
import dev.pipewright.schedule.Hanayo;
import dev.pipewright.schedule.Interleaved;
import dev.pipewright.schedule.InterleavedZeroBubble;
import dev.pipewright.schedule.LoopedBreadthFirst;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.OneForwardOneBackwardV;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Program;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.ZeroBubbleH1;
import dev.pipewright.schedule.ZeroBubbleH2;
import dev.pipewright.schedule.cyclic.Cyclic;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.StaticSimulator;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalDouble;
import java.util.SplittableRandom;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class ScheduleJsonReaderTest {
  static List<Schedule> schedules() {
    return List.of(
        GPipe.of(1, 1),
        GPipe.of(3, 5),
        OneForwardOneBackward.of(4, 8),
        Interleaved.of(4, 3, 8),
        InterleavedZeroBubble.of(2, 2, 4),
        LoopedBreadthFirst.of(3, 2, 6),
        OneForwardOneBackwardV.of(4, 8),
        ZeroBubbleH1.of(4, 7),
        ZeroBubbleH2.of(4, 9),
        Hanayo.of(3, 6, 2),
        DualPipe.of(4, 10),
        DualPipeV.of(4, 10),
        Chimera.of(4, 8),
        new Cyclic(3).schedule(Cyclic.Rule.V2, 2));
  }

  @TempDir Path folder;

  private Path file(String text) {
    return Refusal.file(folder, "s.json", text);
  }

  private static Run run(Schedule schedule) {
    return StaticSimulator.run(schedule, OpTimes.equal(schedule.stages(), 1, 1.1, 0.9, 0.1));
  }

  private static String text(Run run) {
    Schedule schedule = run.schedule();
    int all = schedule.microBatches() * schedule.placement().chains();
    return ScheduleJson.text(
        run, new ScheduleJson.Context(schedule.name(), all, 1, OptionalDouble.of(3), 0.5));
  }

  private static void assertSame(Run run, ScheduleFile read) {
    Schedule written = run.schedule();
    Schedule schedule = read.schedule();
    assertEquals(written.name(), schedule.name());
    assertEquals(written.microBatches(), schedule.microBatches());
    assertEquals(written.ranks(), schedule.ranks());
    assertEquals(written.placement().chains(), schedule.placement().chains());
    for (int stage = 0; stage < written.stages(); stage++) {
      assertEquals(written.placement().rankOf(stage), schedule.placement().rankOf(stage));
    }
    ScheduleFile.Times times = read.times().orElseThrow();
    for (int rank = 0; rank < written.ranks(); rank++) {
      assertArrayEquals(written.packed(rank), schedule.packed(rank));
      for (int i = 0; i < written.packed(rank).length; i++) {
        assertEquals(run.start(rank, i), times.starts()[rank][i]);
        assertEquals(run.end(rank, i), times.ends()[rank][i]);
      }
    }
  }

  @ParameterizedTest
  @MethodSource("schedules")
  void whatIsWrittenIsReadBackTheSame(Schedule schedule) {
    Run run = run(schedule);
    ScheduleFile read = ScheduleJsonReader.read(file(text(run)));
    assertSame(run, read);
    double[] caps = new double[schedule.ranks()];
    Arrays.fill(caps, 3);
    assertArrayEquals(caps, read.memoryCap().orElseThrow());
    assertEquals(List.of(), read.problems());
    String older =
        Stream.of(text(run).split("\n"))
            .filter(line -> !line.contains("\"chain_micro") && !line.contains("\"placement"))
            .reduce("", (a, b) -> a + b + "\n");
    assertEquals(text(run).lines().count() - 2, older.lines().count());
    assertSame(run, ScheduleJsonReader.read(file(older)));
  }

  /** Every kind of op on any placement, in any order: mostly nothing that could run. */
  @RepeatedTest(50)
  void anyProgramsAreReadBackTheSame(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    int ranks = random.nextInt(1, 4);
    int chains = random.nextInt(1, 3);
    int depth = random.nextInt(1, 4);
    int[] rankOf = random.ints((long) chains * depth, 0, ranks).toArray();
    Placement placement = Placement.of(ranks, chains, rankOf);
    Program[] programs = new Program[ranks];
    Arrays.setAll(programs, rank -> new Program());
    int[] order = random.ints(40, 0, placement.stages()).toArray();
    for (int stage : order) {
      Program program = programs[placement.rankOf(stage)];
      boolean joins = random.nextInt(4) == 0;
      if (joins) {
        program.add(Pass.BACKWARD_WEIGHT, stage, random.nextInt(9)).join();
      }
      program.add(Pass.UPDATE, stage, random.nextInt(9));
      Pass exchange = List.of(Pass.REDUCE, Pass.GATHER, Pass.HAND_ON).get(random.nextInt(3));
      program.add(exchange, stage, 0); // nobody takes a second turn: any simulator runs it
    }
    long[][] packed = Arrays.stream(programs).map(Program::packed).toArray(long[][]::new);
    Schedule schedule = new Schedule("any", placement, 9, packed);
    ScheduleFile read = ScheduleJsonReader.read(file(any(schedule, random)));
    assertEquals(placement.chains(), read.schedule().placement().chains());
    for (int rank = 0; rank < ranks; rank++) {
      assertArrayEquals(packed[rank], read.schedule().packed(rank));
    }
  }

  /** The ops as the format has them, written anew, with any times. */
  private static String any(Schedule schedule, SplittableRandom random) {
    Placement placement = schedule.placement();
    StringBuilder text = new StringBuilder("{\"placement\": [");
    for (int stage = 0; stage < placement.stages(); stage++) {
      text.append(stage % placement.depth() > 0 ? "," : stage == 0 ? "[" : "],[");
      text.append(placement.rankOf(stage));
    }
    text.append("]], \"chain_micro_batches\": 9, \"unknown\": {\"a\": [1, {}]}, \"ranks\": [\n");
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      text.append(rank == 0 ? "[" : ",\n[");
      long[] program = schedule.packed(rank);
      for (int i = 0; i < program.length; i++) {
        double start = random.nextInt(9);
        boolean first = Schedule.isJoined(program[i]);
        boolean second = i > 0 && Schedule.isJoined(program[i - 1]);
        text.append(i == 0 ? "" : ", ");
        text.append(first ? "[\"FB\", 1, 2, [" : "");
        text.append("[\"").append(word(Schedule.pass(program[i]))).append("\", ");
        text.append(Schedule.microBatch(program[i])).append(", ");
        text.append(Schedule.stage(program[i]) % placement.depth());
        text.append(first || second ? "" : ", " + start + ", " + (start + 1));
        text.append(", ").append(Schedule.stage(program[i]) / placement.depth()).append(']');
        text.append(second ? "]]" : "");
      }
      text.append(']');
    }
    return text.append("]}").toString();
  }

  private static String word(Pass pass) {
    return switch (pass) {
      case FORWARD -> "F";
      case BACKWARD -> "BW";
      case BACKWARD_INPUT -> "B";
      case BACKWARD_WEIGHT -> "W";
      case RECOMPUTE -> "R";
      case UPDATE -> "U";
      case REDUCE -> "A";
      case GATHER -> "G";
      case HAND_ON -> "H";
    };
  }

  private static final String TWO =
      """
      {"micro_batches": 1, "ranks": [
        [["F", 0, 0, 0, 1], ["BW", 0, 0, 4, 6]],
        [["F", 0, 1, 1, 2],
         ["BW", 0, 1, 2, 4]]]}
      """;

  private List<String> problems(String text) {
    Path file = file(text);
    return ScheduleJsonReader.read(file).problems().stream()
        .map(problem -> problem.toString().replace(file.toString(), "s.json"))
        .toList();
  }

  @Test
  void problemsHaveTheirLineAndColumn() {
    assertEquals(List.of(), problems(TWO));
    assertEquals(
        List.of("s.json:3: no rank runs F0 of stage 1"),
        problems(TWO.replace("[\"F\", 0, 1, 1, 2],", "")));
    assertEquals(
        List.of("s.json:5:1: rank 1 runs B0 of stage 1 again"),
        problems(TWO.replace("2, 4]]", "2, 4],\n[\"BW\", 0, 1, 5, 6]]")));
    assertEquals(
        List.of("s.json:3:4: rank 1 runs B0 of stage 1 before F0 of stage 1, which it needs"),
        problems(
            TWO.replace("\"F\", 0, 1, 1", "\"X\"")
                .replace("\"BW\", 0, 1, 2", "\"F\", 0, 1, 2")
                .replace("\"X\"", "\"BW\", 0, 1, 1")));
  }

  @Test
  void timesThatCannotBeAreFoundWithBothFigures() {
    assertEquals(
        List.of(
            "s.json:3:4: rank 1 starts F0 of stage 1 at 0.5 s, but F0 of stage 0 on rank 0, which"
                + " it needs, ends at 1.0 s"),
        problems(TWO.replace("1, 1, 2]", "1, 0.5, 2]")));
    assertEquals(
        List.of(
            "s.json:4:4: rank 1 starts B0 of stage 1 at 1.5 s, but runs F0 of stage 1 until 2.0 s"),
        problems(TWO.replace("1, 2, 4]", "1, 1.5, 4]")));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {"ranks": []}                          | s.json:1: holds no op; give what
          {"ranks": 3}                           | s.json:1:11: ranks is no list; it lists
          {"ranks": [3]}                         | s.json:1:12: a rank is no list; it lists
          {"ranks": [[3]]}                       | s.json:1:13: 3 is no op; write ops like
          {"ranks": [["F"]]}                     | s.json:1:13: F is no op; write ops like
          {"ranks": [[["Q", 0, 0, 0, 1]]]}       | s.json:1:14: unknown op "Q"; one of F, BW, B, W
          {"ranks": [[["F", -1, 0, 0, 1]]]}      | s.json:1:19: micro-batch is -1; expected a whole
          {"ranks": [[["F", 0, 1e9, 0, 1]]]}     | s.json:1:22: stage is 1e9; expected a whole
          {"ranks": [[["F", 0, 0, 0]]]}          | s.json:1:26: end is missing; expected a finite
          {"ranks": [[["F", 0, 0, 2, 1]]]}       | s.json:1:13: an op ends at 1.0 s, before
          {"ranks": [[["F", 0, 0, 0, 1e999]]]}   | s.json:1:28: end is 1e999; expected a finite
          {"ranks": [[["F", 0, 0, 0, 1, 0, 0]]]} | s.json:1:34: 0 is one value too many; write ops
          {"ranks": [[["FB", 0, 1, []]]]}        | s.json:1:27: ["FB", start, end, []] holds no ops
          {"placement": [[4]], "ranks": [[["F", 0, 0, 0, 1]]]} | s.json:1: placement names rank 4
          {"placement": [[0]], "ranks": [[["F", 0, 1, 0, 1]]]} | s.json:1:33: stage 1 of chain 0 is
          {"micro_batches": 0}                   | s.json:1:19: micro_batches is 0; expected a whole
          {"makespan": null}                     | s.json:1:14: makespan is null; expected a finite number
          {"makespan": 1e400}                    | s.json:1:14: makespan is 1e400; expected a finite number
          {"peak_activations": [1, "2"]}         | s.json:1:26: peak_activations is 2; expected a finite
          {"memory_cap": [-1]}                   | s.json:1:17: memory_cap is -1; expected a finite number
          {"memory_cap": [1, 2], "ranks": [[["F", 0, 0, 0, 1]]]} | s.json:1: memory_cap holds 2 numbers for 1
          {"a": 1, "b": [{"c": 1, "c": 2}]}      | s.json:1:25: the key "c" stands twice, first in line 1;
          {"ranks": [], "ranks": []}             | s.json:1:15: the key "ranks" stands twice, first in line
          [1]                                    | s.json:1:1: is no object; give what
          {"ranks": [[["F", 0                    | s.json:2:1: the file ends inside ranks[0][0][1]; write
          {"ranks": [[["F", 0, 1000000, 0, 1]]]} | s.json:1:22: stage is 1000000; expected a whole
          {"ranks": [[["F", 1000000, 60000, 0, 1]]]} | s.json:1: names 60001 stages and 1000001 micro
          """)
  void whatIsNoScheduleIsRefusedInASentence(String text, String expected) {
    String message = Refusal.of(file(text + "\n"), ScheduleJsonReader::read);
    assertEquals(expected, message.substring(0, Math.min(expected.length(), message.length())));
    assertEquals(true, message.contains("; "), message);
  }

  private static final String FIGURES =
      """
      {"stages": 2,
       "micro_batches": 1,
       "chain_micro_batches": 1,
       "makespan": 6.0,
       "idle_share": 0.5,
       "stage_span_idle_share": 0.5,
       "peak_activations": [1, 1],
       "ranks": [
        [["F", 0, 0, 0, 1], ["BW", 0, 0, 4, 6]],
        [["F", 0, 1, 1, 2], ["BW", 0, 1, 2, 4]]]}
      """;

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '^',
      textBlock =
          """
          "stages": 2              | "stages": 3              | 1:12: stages is 3, but the ops give 2
          "stages": 2              | "stages": 1              | 1:12: stages is 1, but the ops give 2
          "micro_batches": 1,      | "micro_batches": 2,      | 2:19: micro_batches is 2, but the ops give 1
          "chain_micro_batches": 1 | "chain_micro_batches": 7 | 3:25: chain_micro_batches is 7, but the ops give 1
          6.0                      | 6.0000001                | 4:14: makespan is 6.0000001, but the ops give 6
          "idle_share": 0.5        | "idle_share": 0          | 5:16: idle_share is 0, but the ops give 0.5
          "stage_span_idle_share": 0.5 | "stage_span_idle_share": 1 | 6:27: stage_span_idle_share is 1, but the ops give 0.5
          [1, 1]                   | [1, 2]                   | 7:22: peak_activations[1] is 2, but the ops give 1
          [1, 1]                   | [1]                      | 7:22: the length of peak_activations is 1, but the ops give 2
          """)
  void aFigureThatTheOpsContradictIsFound(String right, String wrong, String expected) {
    assertEquals(List.of(), problems(FIGURES));
    String text = FIGURES.replaceFirst(Pattern.quote(right), wrong);
    assertEquals(List.of("s.json:" + expected), problems(text));
  }

  @Test
  void figuresMayDifferInTheirLastDigits() {
    assertEquals(List.of(), problems(FIGURES.replace("6.0", "6.000000001")));
    assertEquals(List.of(), problems(FIGURES.replace("0.5,", "0.4999999999,")));
    String tiny =
        """
        {"makespan": 3e-9, "ranks": [[["F", 0, 0, 0, 1e-9], ["BW", 0, 0, 1e-9, 3e-9]]]}
        """;
    assertEquals(List.of(), problems(tiny));
    assertEquals(1, problems(tiny.replace("{\"makespan\": 3e-9", "{\"makespan\": 3.1e-9")).size());
  }

  @Test
  void workThatCommunicationStretchedIsIdleTimeInTheFigures() {
    String slow = FIGURES.replace("\"idle_share\": 0.5,", "\"idle_share\": 0.6,");
    assertEquals(1, problems(slow).size());
    String said = slow.replace("\"ranks\"", "\"stretched_share\": 0.1, \"ranks\"");
    assertEquals(List.of(), problems(said));
  }

  @Test
  void capsMayDifferFromRankToRank() {
    String capped = FIGURES.replace("\"ranks\"", "\"memory_cap\": [2, null], \"ranks\"");
    assertArrayEquals(
        new double[] {2, Double.POSITIVE_INFINITY},
        ScheduleJsonReader.read(file(capped)).memoryCap().orElseThrow());
  }

  @Test
  void aStageThatNobodyRunsIsFoundEvenWithoutPlacement() {
    assertEquals(
        List.of(
            "s.json: no rank runs stage 0, but there are stages 0..1; the line of its rank is"
                + " missing"),
        problems("{\"ranks\": [[[\"F\", 0, 1, 1, 2], [\"BW\", 0, 1, 2, 4]]]}"));
  }

  /** Wherever writing stopped, a sentence says so and names the place. */
  @Test
  void aFileThatWasCutOffAnywhereIsRefusedInASentence() {
    String text = text(run(DualPipe.of(2, 4))).stripTrailing();
    for (int end = 1; end < text.length(); end++) {
      String message = Refusal.of(file(text.substring(0, end)), ScheduleJsonReader::read);
      assertTrue(
          message.matches(
              "s.json:\\d+:\\d+: (the file ends inside (its object|\\S+); write it again|.* no number"
                  + " as JSON .*)"),
          message);
    }
  }
}
