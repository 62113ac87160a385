package dev.pipewright.app.report.study;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.app.report.page.PageReader;
import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.app.report.text.TextWidth;
import dev.pipewright.predict.paradl.Prediction.Impossible;
import dev.pipewright.predict.paradl.Strategy;
import dev.pipewright.predict.paradl.Study;
import dev.pipewright.predict.paradl.Study.Crossover;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class StudyTextTest {
  @Test
  void threeStrategiesOnThreeCounts() {
    String text = StudyText.of(Studies.small(), 80, false);
    assertTrue(
        text.startsWith(
            """
            On 256 devices choose data+spatial: 11,187 samples/s, 183 ms per iteration of
            2,048 samples, 81 % of the memory.

                                                               communi-              samples
              devices strategy       layout   batch  iteration   cation memory         per s
                   16   data         16         512     205 ms  56.2 ms ████ ! 118 %   2,497
                   16 * data+spatial 4 × 4×1    128     169 ms  97.0 ms ███░    81 %     757
                   16   filter       16         128     197 ms   144 ms ██░░    62 %     650
            """),
        text);
    assertTrue(text.contains("\n      256   filter       –        8,192 impossible "), text);
    assertTrue(text.contains("\n  filter  256  no layer can be cut into more than 64 parts\n"));
    assertTrue(text.contains("    → sharding the optimizer's state (zero1) or fewer replicas\n"));
    assertTrue(
        text.contains("\n  network bandwidth  ! pipeline, −20.0 %    data+spatial, +20.0 %\n"));
  }

  @Test
  void wideTerminalsSeeAllColumns() {
    String text = StudyText.of(Studies.small(), 120, false);
    for (StudyColumn column : StudyColumn.values()) {
      String heading = column.column().heading();
      assertTrue(text.contains(heading.substring(heading.indexOf('\n') + 1)), heading);
    }
  }

  @Test
  void staysWithinItsColumns() {
    for (Study study : List.of(Studies.small(), Studies.large(11), Studies.extreme())) {
      for (int columns : new int[] {80, 100, 120, 200}) {
        StudyText.of(study, columns, false)
            .lines()
            .forEach(line -> assertTrue(TextWidth.of(line) <= columns, line));
      }
    }
  }

  @Test
  void everyPredictionHasARow() {
    String text = StudyText.of(Studies.large(11), 100, false);
    for (Strategy strategy : Strategy.values()) {
      String rows = "(?m)^ +[0-9]+ +(\\* )?" + strategy.label().replace("+", "\\+") + " .*";
      assertTrue(PageReader.matches(rows, text).size() >= 11, strategy.label());
    }
  }

  @Test
  void oneStrategyIsMarkedOnEachCountOnWhichAnythingFits() {
    Study study = Studies.large(11);
    long fitting = study.devices().stream().filter(d -> !study.ranking(d).isEmpty()).count();
    String text = StudyText.of(study, 100, false);
    assertEquals(
        fitting, PageReader.matches("(?m)^ +[0-9]+ \\* ", text.replace("  * ", " * ")).size());
  }

  @Test
  void coloursChangeNoLetter() {
    String plain = StudyText.of(Studies.small(), 100, false);
    String coloured = StudyText.of(Studies.small(), 100, true);
    assertFalse(plain.contains("\u001b"));
    assertTrue(coloured.contains("\u001b"));
    assertEquals(plain, coloured.replaceAll("\u001b\\[[0-9]+m", ""));
  }

  @Test
  void saysThatNothingFits() {
    Study study = Studies.study(List.of(Strategy.DATA), List.of(16));
    assertTrue(StudyText.of(study, 80, false).startsWith("None of the strategies asked for fits "));
  }

  @Test
  void saysOnWhichCountSomethingFitsWhereTheMostIsTooMany() {
    Study study = Studies.study(List.of(Strategy.FILTER), List.of(16, 256));
    assertTrue(
        StudyWords.answer(study)
            .startsWith(
                "None of these strategies fits on 256 devices. On 16 devices choose filter: "));
  }

  @Test
  void crossoversAreSentences() {
    Study study =
        new Study(
            List.of(),
            List.of(),
            List.of(),
            List.of(
                new Crossover(4, Optional.empty(), Strategy.SPATIAL, 1),
                new Crossover(16, Optional.of(Strategy.SPATIAL), Strategy.DATA, 1.5),
                new Crossover(64, Optional.of(Strategy.DATA), Strategy.ZERO3, 1)),
            List.of());
    assertEquals(
        List.of(
            "From 4 devices on choose spatial.",
            "From 16 devices on choose data: 1.50× the samples per second of spatial there.",
            "From 64 devices on choose zero3: data is no choice any more."),
        StudyWords.crossovers(study));
  }

  @Test
  void countsWithOneReasonAreRuns() {
    List<Integer> asked = List.of(1, 2, 4, 8, 16, 32);
    assertEquals("1–2, 8, 32", StudyWords.counts(List.of(1, 2, 8, 32), asked));
    assertEquals("1–32", StudyWords.counts(asked, asked));
    assertEquals("", StudyWords.counts(List.of(), asked));
  }

  @Test
  void reasonsThatDifferByTheCountOnlyShareARow() {
    Study study =
        Studies.of(
            List.of(Strategy.FILTER),
            List.of(128, 256),
            List.of(
                new Impossible(Strategy.FILTER, 128, 1, List.of(), "128 devices are more than 64"),
                new Impossible(
                    Strategy.FILTER, 256, 1, List.of(), "256 devices are more than 64")));
    String text = StudyText.of(study, 80, false);
    assertTrue(text.contains("\n  filter  128–256  so many devices are more than 64\n"), text);
  }

  @Test
  void numbersFarFromOneStayShort() {
    assertEquals("<1 %", StudyWords.share(0.001));
    assertEquals("100 %", StudyWords.share(1));
    assertEquals("20×", StudyWords.share(20));
    assertEquals("0.0042", Numbers.rate(0.0042));
    assertEquals("12,346", Numbers.rate(12_345.6));
  }

  @Test
  void impossibleSaysWhy() {
    assertEquals(
        "filter on 1 device is impossible: why",
        StudyWords.impossible(new Impossible(Strategy.FILTER, 1, 32, List.of(), "why")));
  }
}
