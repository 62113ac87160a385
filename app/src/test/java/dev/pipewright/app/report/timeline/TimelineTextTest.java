package dev.pipewright.app.report.timeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.app.report.plan.Pipelines;
import dev.pipewright.app.report.text.TextWidth;
import dev.pipewright.trace.Timeline;
import dev.pipewright.trace.Timeline.Kind;
import dev.pipewright.trace.Timeline.Lane;
import dev.pipewright.trace.Timeline.Slice;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class TimelineTextTest {
  private static final Timeline SMALL = Pipelines.timeline(2, 4, 0.010, 0.020, 0.003, 0.025);

  private static String text(Timeline timeline, int width, boolean colours) {
    return TimelineText.of(Runs.of("a step", timeline), width, colours);
  }

  @Test
  void twoStagesFourMicroBatches() {
    assertEquals(
        """
                                                                             idle
        stage 0 │F0━F1━        B0━━━F2━B1━━━━F3━  B2━━━━   B3━━━━A━━━━━━│  35.8 %
        stage 1 │    F0━B0━━━━F1━B1━━━  F2━B2━━━━F3━B3━━━━A━━━━━━       │  35.8 %
                └──────────────┴─────────────┴──────────────┴───────────
                0 ms          50            100            150
                F forward  B backward  A all-reduce  blank: idle
                number: micro-batch
        """,
        text(SMALL, 73, false));
  }

  @Test
  void showsWhatTakesMostOfACellWherePassesAreNarrow() {
    assertEquals(
        """
                                              idle
        stage 0 │░  ▌▓▊▊▊▓▊▊▊▓▊▊▊▓▊▊▋▌▌▋∑│  36.1 %
        stage 1 │▋▏▎▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▌▌∑▍│  36.1 %
        stage 2 │▏▍▓▓▊▓▓▓▊▓▓▓▊▓▓▓▊▓▓▓▌█▋ │  36.1 %
        stage 3 │ ▓▊▓▓▓▊▓▓▓▊▓▓▓▊▓▓▓▊▓▓∑  │  36.1 %
                └────────────┴───────────
                0 ms        500
                ░ forward  █ backward
                ∑ all-reduce
                ▓ forward and backward
                ▏–▉ partly idle  blank: idle
        """,
        text(Pipelines.timeline(4, 20, 0.010, 0.020, 0.006, 0.045), 42, false));
  }

  @Test
  void numbersAreWholeAlsoBeyondTen() {
    String many = text(Pipelines.timeline(2, 11, 0.01, 0.02, 0.003, 0.025), 160, false);
    assertTrue(many.contains("B10━"), many);
    assertTrue(many.contains("number: micro-batch"), many);
  }

  @Test
  void anAllReduceThatOverlapsPassesHasALineOfItsOwn() {
    Timeline step = Pipelines.timeline(2, 4, 0.010, 0.020, 0.003, 0);
    Lane.Compute first = step.compute().get(0);
    List<Slice> slices = new ArrayList<>(first.slices());
    slices.add(new Slice(Kind.ALL_REDUCE, 0, -1, 0.05, 0.09));
    Lane overlapped =
        new Lane.Compute(0, first.devices(), slices, first.busySeconds(), first.spanSeconds());
    List<Lane> lanes = new ArrayList<>(step.lanes());
    lanes.set(lanes.indexOf(first), overlapped);
    Timeline timeline = new Timeline(lanes, step.flows(), step.memory(), step.stepSeconds());
    List<String> lines = text(timeline, 100, false).lines().toList();
    assertTrue(lines.get(1).startsWith("stage 0 │F0"), lines.get(1));
    assertTrue(lines.get(2).matches(" {8}│ +A━+ +│ *"), lines.get(2));
    assertTrue(lines.get(3).startsWith("stage 1 │"), lines.get(3));
  }

  @Test
  void equalStagesShareALineWhereTheyAreMany() {
    String text = text(Pipelines.timeline(64, 4, 0.01, 0.02, 0.003, 0), 100, false);
    List<String> lanes = lanes(text);
    assertTrue(lanes.size() <= 16, text);
    assertTrue(lanes.get(0).startsWith("stage 0–5 "), text);
    assertTrue(lanes.get(lanes.size() - 1).startsWith("stage 60–63 "), text);
    assertTrue(text.contains("a line for equal stages shows the first"), text);
    lanes.forEach(line -> assertEquals(100, TextWidth.of(line), line));
  }

  @Test
  void everyStageOfSixteenHasALine() {
    String text = text(Pipelines.timeline(16, 4, 0.01, 0.02, 0.003, 0), 100, false);
    assertEquals(16, lanes(text).size(), text);
    assertFalse(text.contains("equal stages"), text);
  }

  @Test
  void keepsToItsWidth() {
    for (int width : new int[] {60, 100, 160}) {
      for (String line : lanes(text(SMALL, width, false))) {
        assertEquals(width, TextWidth.of(line));
      }
    }
  }

  @Test
  void coloursChangeNothingElse() {
    String coloured = text(SMALL, 100, true);
    assertTrue(coloured.contains("\u001b[33mB0━━"));
    assertEquals(text(SMALL, 100, false), coloured.replaceAll("\u001b\\[[0-9]+m", ""));
  }

  @Test
  void anEmptyStepHasALegendOnly() {
    Timeline empty = new Timeline(List.of(), List.of(), List.of(), 0);
    assertFalse(text(empty, 100, false).contains("│"));
  }

  private static List<String> lanes(String text) {
    return text.lines().filter(line -> line.startsWith("stage")).toList();
  }
}
