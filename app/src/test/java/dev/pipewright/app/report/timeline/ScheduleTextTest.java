package dev.pipewright.app.report.timeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.schedule.DualPipeV;
import dev.pipewright.schedule.GPipe;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Program;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.ZeroBubbleH1;
import dev.pipewright.schedule.search.OpTimes;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ScheduleTextTest {
  private static String text(Shown run, int width, boolean colours) {
    return text(List.of(run), width, colours);
  }

  private static String text(List<Shown> runs, int width, boolean colours) {
    return ScheduleText.of(ScheduleRuns.shown(runs.toArray(new Shown[0])), width, colours);
  }

  private static List<String> grid(Shown run, int width) {
    return text(run, width, false).lines().filter(line -> line.contains("│")).toList();
  }

  @Test
  void everyOpHasItsMicroBatchWhereItRuns() {
    assertEquals(
        """
        1f1b: 2 ranks, 3 micro-batches
        op times: F 1, B 1, W 1
        makespan 12; idle 25.0 % of it
        peak activations of a stage by rank: 2 1

        0 │F0 F1       B0━━━ F2 B1━━━    B2━━━ │
        1 │   F0 B0━━━ F1 B1━━━ F2 B2━━━       │

        0 │▄▄▄████████████████████████▄▄▄▄▄▄▄▄▄│
        1 │   ▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄      │
           F forward  B backward  blank: idle  number: micro-batch
           bars: activations held, █ the most of any rank
        """,
        text(ScheduleRuns.of(OneForwardOneBackward.of(2, 3), 1), 91, false));
  }

  @Test
  void exchangesHaveALineOfTheirOwn() {
    assertEquals(
        """
        0 │F0       F1 B1━━━ B0━━━ U1    U0 │
          │   G━━━━          A━━━━ A━━━━    │
        """,
        grid(ScheduleRuns.replicas(), 80).stream()
            .limit(2)
            .collect(Collectors.joining("\n", "", "\n")));
  }

  @Test
  void comparedSchedulesHaveATableAndTheSameScale() {
    assertEquals(
        """
        1f1b, zb-h1: 2 ranks, 2 micro-batches
        op times: F 1, B 1, W 1

                              against   idle of       idle of         peak
          schedule  makespan     1f1b  makespan  longest span  activations
          1f1b             9        –    33.3 %        33.3 %            2
          zb-h1            7  −22.2 %    14.3 %        14.3 %            2
          idle of longest span: of the busiest rank, in the longest time from a rank's
          first op to its last
          peak activations: of the fullest rank, in micro-batches of a stage

        1f1b
        0 │F0 F1       B0━━━    B1━━━ │
        1 │   F0 B0━━━ F1 B1━━━       │

        0 │▄▄▄███████████████▄▄▄▄▄▄▄▄▄│
        1 │   ▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄      │

        zb-h1
        0 │F0 F1    I0 W0 I1 W1 │
        1 │   F0 I0 F1 I1 W0 W1 │

        0 │▄▄▄████████████▄▄▄▄▄▄│
        1 │   ▄▄▄▄▄▄█████████▄▄▄│
        """,
        text(
                List.of(
                    ScheduleRuns.of(OneForwardOneBackward.of(2, 2), 1),
                    ScheduleRuns.of(ZeroBubbleH1.of(2, 2), 1)),
                80,
                false)
            .replaceAll("(?s)   F forward.*", ""));
  }

  @Test
  void narrowLinesLeaveOutTheGapsAndNarrowerOnesTheNumbers() {
    Shown run = ScheduleRuns.of(GPipe.of(2, 2), 1);
    assertEquals("0 │F0F1      B0━━B1━━│", grid(run, 22).get(0));
    assertEquals("0 │FF    BBBB│", grid(run, 13).get(0));
  }

  @Test
  void timesWithoutACommonUnitAreRoundedToColumns() {
    OpTimes odd = OpTimes.equal(1, 1, 0.7182818, 0.7182818, 0);
    List<String> lines = grid(ScheduleRuns.of(GPipe.of(1, 1), 1, odd), 28);
    assertEquals("0 │F0━━━━━━━━B0━━━━━━━━━━━━│", lines.get(0));
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
    List<List<Shown>> all =
        List.of(
            List.of(ScheduleRuns.of(DualPipeV.of(4, 10), 2)),
            List.of(ScheduleRuns.ring()),
            List.of(ScheduleRuns.of(OneForwardOneBackward.of(100, 300), 1)),
            List.of(
                ScheduleRuns.of(OneForwardOneBackward.of(4, 8), 1),
                ScheduleRuns.capped(ScheduleRuns.of(ZeroBubbleH1.of(4, 8), 1), 2.0)));
    for (List<Shown> runs : all) {
      for (int width = 72; width <= 160; width += 3) {
        int most = width;
        text(runs, width, false).lines().forEach(line -> assertTrue(line.length() <= most, line));
      }
    }
  }

  @Test
  void capsAreStatedForAllOrByRank() {
    Shown run = ScheduleRuns.of(OneForwardOneBackward.of(4, 8), 1);
    assertEquals("4 3 2 1 (cap 4)", caps(ScheduleRuns.capped(run, 4.0)));
    assertEquals("4 3 2 1 (cap 4)", caps(ScheduleRuns.capped(run, 4.0, 4.0, 4.0, 4.0)));
    assertEquals("4 3 2 1 (cap 4:3.5:2:1)", caps(ScheduleRuns.capped(run, 4.0, 3.5, 2.0, 1.0)));
    Shown many = ScheduleRuns.of(OneForwardOneBackward.of(32, 40), 1);
    Double[] each = IntStream.range(0, 32).mapToObj(rank -> 34.0 - rank).toArray(Double[]::new);
    assertTrue(caps(ScheduleRuns.capped(many, each)).endsWith("2 1 (cap 3 to 34 by rank)"));
  }

  private static String caps(Shown run) {
    String start = "peak activations of a stage by rank: ";
    String text = text(run, 200, false);
    return text.lines()
        .filter(line -> line.startsWith(start))
        .findFirst()
        .orElseThrow()
        .substring(start.length());
  }

  @Test
  void aTableMarksWhereARankExceedsItsOwnCap() {
    Shown plain = ScheduleRuns.of(OneForwardOneBackward.of(4, 8), 1);
    Shown split = ScheduleRuns.of(ZeroBubbleH1.of(4, 8), 1);
    String fits = compared(plain, plain, 4.0, 3.0, 2.0, 1.0);
    assertTrue(fits.contains(" 4\n") && !fits.contains("!"), fits);
    String exceeded = compared(plain, split, 9.0, 3.0, 1.0, 1.0);
    assertTrue(exceeded.contains(" 4 !\n"), exceeded);
    assertTrue(exceeded.contains("; ! a rank exceeds its cap of 9:3:1:1\n"), exceeded);
    String all = compared(plain, split, 3.0);
    assertTrue(all.contains("; ! exceeds the cap of 3\n"), all);
  }

  private static String compared(Shown one, Shown other, Double... caps) {
    List<Shown> runs = List.of(ScheduleRuns.capped(one, caps), ScheduleRuns.capped(other, caps));
    return text(runs, 200, false);
  }

  @Test
  void whatIsLeftOutIsSaid() {
    String text = text(ScheduleRuns.of(GPipe.of(100, 2), 1), 100, false);
    assertTrue(text.contains("\nand 36 ranks more\n"), text);
    assertTrue(text.contains(" 2 …, the most 2\n"), text);
  }

  @Test
  void coloursAddNothingButEscapes() {
    Shown run = ScheduleRuns.of(DualPipeV.of(2, 4), 2);
    assertEquals(text(run, 100, false), text(run, 100, true).replaceAll("\u001b\\[[0-9]+m", ""));
  }
}
