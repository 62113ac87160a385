package dev.pipewright.app.report.text;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.app.report.chart.Look;
import dev.pipewright.app.report.chart.Ticks;
import dev.pipewright.trace.Timeline.Kind;
import java.util.List;
import org.junit.jupiter.api.Test;

class WordingTest {
  @Test
  void coordinatesAreShort() {
    StringBuilder out = new StringBuilder();
    for (double value : new double[] {0, 1, -1.5, 2.25, 0.004, 1234.999}) {
      Numbers.appendShort(out.append(' '), value);
    }
    assertEquals(" 0 1 -1.5 2.25 0 1235", out.toString());
  }

  @Test
  void countsAreGrouped() {
    assertEquals("999", Numbers.grouped(999));
    assertEquals("12,345", Numbers.grouped(12_345));
    assertEquals("-1,234,567", Numbers.grouped(-1_234_567));
  }

  @Test
  void devicesAreRanges() {
    assertEquals("0–7", Words.devices(List.of(0, 1, 2, 3, 4, 5, 6, 7)));
    assertEquals("0–1,4,8–9", Words.devices(List.of(0, 1, 4, 8, 9)));
    assertEquals("0,2,4,…(6)", Words.devices(List.of(0, 2, 4, 6, 8, 10), 10));
    assertEquals("6 devices", Words.devices(List.of(100, 102, 104, 106, 108, 110), 5));
  }

  @Test
  void linesBreakBetweenWordsButNotBeforeUnits() {
    StringBuilder out = new StringBuilder();
    TextWidth.wrap(out, "takes about 25.0 ms or 10 % more", 16, 2);
    assertEquals("takes about\n  25.0 ms or\n  10 % more\n", out.toString());
  }

  @Test
  void longTextIsCutByColumns() {
    assertEquals("並列…", TextWidth.cut("並列訓練", 6));
    assertEquals("straße", TextWidth.cut("straße", 6));
  }

  @Test
  void ticksAreRound() {
    assertEquals("[0, 50, 100, 150] ms", words(Ticks.of(0.187, 5)));
    assertEquals("[0, 0.5, 1.0, 1.5, 2.0, 2.5] s", words(Ticks.of(2.84, 8)));
    assertEquals("[0, 20, 40] µs", words(Ticks.of(41e-6, 4)));
    assertEquals("[0] s", words(Ticks.of(0, 4)));
  }

  private static String words(Ticks ticks) {
    StringBuilder words = new StringBuilder("[");
    for (int i = 0; i < ticks.count(); i++) {
      words.append(i == 0 ? "" : ", ").append(ticks.label(i));
    }
    return words.append("] ").append(ticks.unit()).toString();
  }

  @Test
  void looksAreNumberedInTheOrderOfTheirKinds() { // as the page's script lists their colours
    int number = 0;
    for (Kind kind : Kind.values()) {
      assertEquals(kind.name(), Look.of(kind).name());
      assertEquals(number++, Look.of(kind).number);
    }
  }
}
