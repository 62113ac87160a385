package dev.pipewright.formats.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.schedule.Chimera;
import dev.pipewright.schedule.DualPipe;
import dev.pipewright.schedule.DualPipeV;
import dev.pipewright.schedule.GPipe;
import dev.pipewright.schedule.Op;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.StepEnd;
import dev.pipewright.schedule.ZeroBubbleH1;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.StaticSimulator;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The referee takes ops as objects and joins their texts. */
class ScheduleRanksJsonTest {
  private static List<Schedule> schedules() {
    return List.of(
        GPipe.of(2, 1),
        ZeroBubbleH1.of(5, 400), // more than a buffer holds
        StepEnd.of(DualPipeV.of(4, 12)),
        DualPipe.of(4, 8),
        Chimera.of(4, 8));
  }

  @ParameterizedTest
  @MethodSource("schedules")
  void everyOpIsThere(Schedule schedule) {
    int stages = schedule.stages();
    SplittableRandom random = new SplittableRandom(stages);
    double[] uneven = random.doubles(stages).toArray();
    for (OpTimes times :
        List.of(
            OpTimes.equal(stages, 1, 1, 1, 0),
            OpTimes.equal(stages, 1.1, 0.9, 0.25, 0.1),
            OpTimes.of(uneven, uneven, uneven, 1e6))) {
      Run run = StaticSimulator.run(schedule, times);
      StringWriter text = new StringWriter();
      ScheduleRanksJson.write(run, text);
      assertEquals(expected(run), text.toString());
    }
  }

  private static String expected(Run run) {
    List<String> ranks = new ArrayList<>();
    for (int rank = 0; rank < run.schedule().ranks(); rank++) {
      ranks.add("\n    [" + String.join(", ", ops(run, rank)) + "]");
    }
    return "[" + String.join(",", ranks) + "\n  ]";
  }

  private static List<String> ops(Run run, int rank) {
    List<String> texts = new ArrayList<>();
    List<Op> program = run.schedule().program(rank);
    List<String> together = new ArrayList<>();
    for (int i = 0; i < program.size(); i++) {
      String times = run.start(rank, i) + ", " + run.end(rank, i);
      boolean joined = Schedule.isJoined(run.schedule().packed(rank)[i]);
      if (joined || !together.isEmpty()) {
        together.add(op(run, program.get(i), ""));
      } else {
        texts.add(op(run, program.get(i), ", " + times));
      }
      if (!joined && !together.isEmpty()) {
        texts.add("[\"FB\", " + times + ", [" + String.join(", ", together) + "]]");
        together.clear();
      }
    }
    return texts;
  }

  private static String op(Run run, Op op, String times) {
    int depth = run.schedule().placement().depth();
    String word =
        switch (op.pass()) {
          case BACKWARD -> "BW";
          case BACKWARD_INPUT -> "B";
          default -> op.pass().letter();
        };
    String chain = run.schedule().placement().chains() > 1 ? ", " + op.stage() / depth : "";
    return "[\"%s\", %d, %d%s%s]"
        .formatted(word, op.microBatch(), op.stage() % depth, times, chain);
  }
}
