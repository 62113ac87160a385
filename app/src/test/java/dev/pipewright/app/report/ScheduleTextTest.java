package dev.pipewright.app.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.schedule.DualPipeV;
import dev.pipewright.schedule.GPipe;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Program;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.timed.OpTimes;
import java.util.List;
import org.junit.jupiter.api.Test;

class ScheduleTextTest {
  private static List<String> grid(ScheduleRun run, int width) {
    return ScheduleText.of(run, width, false).lines().filter(line -> line.contains("│")).toList();
  }

  @Test
  void everyOpHasItsMicroBatchWhereItRuns() {
    assertEquals(
        """
        1f1b: 2 ranks, 3 micro-batches
        op times: F 1, B 1, W 1
        makespan 12; idle 25.0 % of it, 25.0 % of the longest rank's span
        peak activations of a stage by rank: 2 1

        0 │F0 F1       B0━━━ F2 B1━━━    B2━━━ │
        1 │   F0 B0━━━ F1 B1━━━ F2 B2━━━       │
           F forward  B backward  blank: idle  number: micro-batch
        """,
        ScheduleText.of(ScheduleRuns.of(OneForwardOneBackward.of(2, 3), 1), 100, false));
  }

  @Test
  void narrowLinesLeaveOutTheGapsAndNarrowerOnesTheNumbers() {
    ScheduleRun run = ScheduleRuns.of(GPipe.of(2, 2), 1);
    assertEquals("0 │F0F1      B0━━B1━━│", grid(run, 22).get(0));
    assertEquals("0 │FF    BBBB│", grid(run, 13).get(0));
  }

  @Test
  void timesWithoutACommonUnitAreShownByLetters() {
    OpTimes odd = OpTimes.equal(1, 1, 0.7182818, 0.7182818, 0);
    List<String> lines = grid(ScheduleRuns.of(GPipe.of(1, 1), 1, odd), 28);
    assertEquals(List.of("0 │FFFFFFFFFFBBBBBBBBBBBBBB│"), lines);
  }

  @Test
  void secondStagesHaveSmallLettersAndPairsAPlus() {
    Program program = new Program();
    program.add(Pass.FORWARD, 0, 0).add(Pass.FORWARD, 0, 1);
    program.add(Pass.FORWARD, 1, 0);
    program.add(Pass.BACKWARD, 1, 0).join().add(Pass.FORWARD, 1, 1);
    program.add(Pass.BACKWARD, 1, 1).add(Pass.BACKWARD, 0, 0).add(Pass.BACKWARD, 0, 1);
    Schedule two = new Schedule("two", Placement.looped(1, 2), 2, new long[][] {program.packed()});
    assertEquals(
        "0 │F0 F1 f0 b0+f1━━━ b1━━━ B0━━━ B1━━━ │", grid(ScheduleRuns.of(two, 2), 80).get(0));
  }

  @Test
  void noLineIsWiderThanAsked() {
    for (int width = 40; width <= 120; width++) {
      String text = ScheduleText.of(ScheduleRuns.of(DualPipeV.of(4, 10), 2), width, false);
      int most = width;
      text.lines().skip(3).forEach(line -> assertTrue(line.length() <= most, line));
    }
  }

  @Test
  void coloursAddNothingButEscapes() {
    ScheduleRun run = ScheduleRuns.of(DualPipeV.of(2, 4), 2);
    assertEquals(
        ScheduleText.of(run, 100, false),
        ScheduleText.of(run, 100, true).replaceAll("\u001b\\[[0-9]+m", ""));
  }
}
