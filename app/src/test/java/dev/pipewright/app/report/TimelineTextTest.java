package dev.pipewright.app.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.trace.Timeline;
import java.util.List;
import org.junit.jupiter.api.Test;

class TimelineTextTest {
  private static final Timeline SMALL = Pipelines.timeline(2, 4, 0.010, 0.020, 0.003, 0.025);

  @Test
  void twoStagesFourMicroBatches() {
    assertEquals(
        """
                                                                             idle
        stage 0 │0░░1░░········0████2░░1█████3░░··2█████···3█████∑∑∑∑∑∑∑│  35.8 %
        stage 1 │····0░░0█████1░░1████··2░░2█████3░░3█████∑∑∑∑∑∑∑·······│  35.8 %
                └──────────────┴─────────────┴──────────────┴───────────
                0 ms          50            100            150
                ░ forward  █ backward  ∑ all-reduce  · idle  digits: micro-batch
        """,
        TimelineText.of(SMALL, 73, false));
  }

  @Test
  void showsWhatTakesMostOfACellWherePassesAreNarrow() {
    assertEquals(
        """
                                              idle
        stage 0 │░··▌▓▊▊▊▓▊▊▊▓▊▊▊▓▊▊▋▌▌▋∑│  36.1 %
        stage 1 │▋▏▎▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▌▌∑▍│  36.1 %
        stage 2 │▏▍▓▓▊▓▓▓▊▓▓▓▊▓▓▓▊▓▓▓▌█▋·│  36.1 %
        stage 3 │·▓▊▓▓▓▊▓▓▓▊▓▓▓▊▓▓▓▊▓▓∑··│  36.1 %
                └────────────┴───────────
                0 ms        500
                ░ forward  █ backward
                ∑ all-reduce
                ▓ forward and backward
                ▏–▉ partly idle  · idle
        """,
        TimelineText.of(Pipelines.timeline(4, 20, 0.010, 0.020, 0.006, 0.045), 42, false));
  }

  @Test
  void digitsAreMicroBatchesWhereTheseAreAtMostTen() {
    String many = TimelineText.of(Pipelines.timeline(2, 11, 0.01, 0.02, 0.003, 0.025), 160, false);
    assertTrue(many.contains("digits: micro-batch modulo 10"), many);
  }

  @Test
  void equalStagesShareALineWhereTheyAreMany() {
    String text = TimelineText.of(Pipelines.timeline(64, 4, 0.01, 0.02, 0.003, 0), 100, false);
    List<String> lanes = lanes(text);
    assertTrue(lanes.size() <= 16, text);
    assertTrue(lanes.get(0).startsWith("stage 0–5 "), text);
    assertTrue(lanes.get(lanes.size() - 1).startsWith("stage 60–63 "), text);
    assertTrue(text.contains("a line for equal stages shows the first"), text);
    lanes.forEach(line -> assertEquals(100, TextWidth.of(line), line));
  }

  @Test
  void everyStageOfSixteenHasALine() {
    String text = TimelineText.of(Pipelines.timeline(16, 4, 0.01, 0.02, 0.003, 0), 100, false);
    assertEquals(16, lanes(text).size(), text);
    assertFalse(text.contains("equal stages"), text);
  }

  @Test
  void keepsToItsWidth() {
    for (int width : new int[] {60, 100, 160}) {
      for (String line : lanes(TimelineText.of(SMALL, width, false))) {
        assertEquals(width, TextWidth.of(line));
      }
    }
  }

  @Test
  void coloursChangeNothingElse() {
    String coloured = TimelineText.of(SMALL, 100, true);
    assertTrue(coloured.contains("\u001b[33m0███"));
    assertEquals(TimelineText.of(SMALL), coloured.replaceAll("\u001b\\[[0-9]+m", ""));
  }

  @Test
  void anEmptyStepHasALegendOnly() {
    Timeline empty = new Timeline(List.of(), List.of(), List.of(), 0);
    assertFalse(TimelineText.of(empty).contains("│"));
  }

  private static List<String> lanes(String text) {
    return text.lines().filter(line -> line.startsWith("stage")).toList();
  }
}
