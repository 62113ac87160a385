package dev.pipewright.app.report.study;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.app.report.chart.StackChart;
import dev.pipewright.app.report.chart.SvgReader;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.predict.paradl.Layout;
import dev.pipewright.predict.paradl.Phase;
import dev.pipewright.predict.paradl.Prediction;
import dev.pipewright.predict.paradl.Prediction.Predicted;
import dev.pipewright.predict.paradl.Strategy;
import dev.pipewright.predict.paradl.Study;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;

class StudySvgTest {
  private static List<String> pictures(Study study, String subject) {
    return List.of(
        StudyTimeSvg.of(study, subject),
        StudyMemorySvg.of(study, subject),
        StudyScalingSvg.of(study, subject),
        StudyParetoSvg.of(study, subject),
        StudyScalingSvg.inPage(study, 360, 340),
        StudyParetoSvg.inPage(study, 360, 340));
  }

  private static List<Study> studies() {
    return List.of(
        Studies.small(),
        Studies.large(1),
        Studies.large(11),
        Studies.extreme(),
        Studies.study(List.of(Strategy.SERIAL), List.of(1)),
        Studies.study(List.of(Strategy.SERIAL), List.of(2, 4)));
  }

  @Test
  void nothingIsOutsideThePicture() throws Exception {
    for (Study study : studies()) {
      for (String picture : pictures(study, "a subject that goes on ".repeat(20))) {
        SvgReader.assertInside(picture);
      }
    }
  }

  @RepeatedTest(60)
  void nothingIsOutsideThePictureWhateverTheNumbers(RepetitionInfo seed) throws Exception {
    for (String picture : pictures(random(seed.getCurrentRepetition()), "random")) {
      SvgReader.assertInside(picture);
      assertFalse(picture.contains("NaN") || picture.contains("Infinity"));
    }
  }

  @RepeatedTest(60)
  void namesBesidePointsDoNotOverlap(RepetitionInfo seed) throws Exception {
    Study study = random(seed.getCurrentRepetition());
    Element root = SvgReader.parse(StudyParetoSvg.of(study, "random"));
    List<Element> names =
        SvgReader.all(root, "text").stream()
            .filter(text -> Strategy.find(text.getTextContent()).isPresent())
            .toList();
    for (int i = 0; i < names.size(); i++) {
      for (int j = 0; j < i; j++) {
        boolean apart =
            Math.abs(SvgReader.number(names.get(i), "y") - SvgReader.number(names.get(j), "y"))
                    >= 13.99
                || SvgReader.box(names.get(i))[0] >= SvgReader.box(names.get(j))[2] - 4
                || SvgReader.box(names.get(j))[0] >= SvgReader.box(names.get(i))[2] - 4;
        assertTrue(apart, names.get(i).getTextContent() + " " + names.get(j).getTextContent());
      }
    }
  }

  /** Most of the strategies on up to 8 device counts, over many orders of magnitude. */
  private static Study random(int seed) {
    var random = new SplittableRandom(seed);
    List<Strategy> strategies = new ArrayList<>(List.of(Strategy.values()));
    strategies.removeIf(strategy -> random.nextInt(4) == 0);
    List<Integer> devices = new ArrayList<>();
    for (int i = 0; i < random.nextInt(1, 9); i++) {
      devices.add((devices.isEmpty() ? 1 : devices.getLast()) + random.nextInt(1, 400));
    }
    List<Prediction> predictions = new ArrayList<>();
    for (Strategy strategy : strategies) {
      for (int count : devices) {
        predictions.add(
            random.nextInt(5) == 0
                ? new Prediction.Impossible(strategy, count, 1, List.of(), "of chance")
                : Studies.predicted(
                    Layout.of(strategy, count, 1),
                    random.nextLong(1, 100_000),
                    Math.pow(10, random.nextDouble(-3, 3)),
                    Studies.CAPACITY * Math.pow(10, random.nextDouble(-3, 1.3))));
      }
    }
    return Studies.of(strategies, devices, predictions);
  }

  @Test
  void everyStrategyAndCountHasItsPlaceAmongTheBars() throws Exception {
    Study study = Studies.large(11);
    for (String picture :
        List.of(StudyTimeSvg.of(study, "bars"), StudyMemorySvg.of(study, "bars"))) {
      List<String> tips = SvgReader.tips(SvgReader.parse(picture));
      assertEquals(
          1 + Strategy.values().length * 11, tips.size(), "the title and a tip for each place");
      for (Strategy strategy : study.strategies()) {
        for (int devices : study.devices()) {
          String place = strategy + " on " + Words.count(devices, "device");
          assertEquals(
              1, tips.stream().filter(tip -> tip.matches("\\Q" + place + "\\E[ :].*")).count());
        }
      }
      assertTrue(
          tips.contains(
              "filter on 128 devices is impossible: no layer can be cut into more than 64 parts"));
    }
  }

  @Test
  void everyStrategyIsNamedAndEveryPredictionMarkedOnce() throws Exception {
    for (Study study : List.of(Studies.large(11), Studies.small())) {
      Element root = SvgReader.parse(StudyScalingSvg.of(study, "lines"));
      for (Strategy strategy : study.strategies()) {
        assertEquals(1, SvgReader.texts(root).stream().filter(strategy.label()::equals).count());
      }
      assertEquals(1 + StudyStacks.predicted(study).size(), SvgReader.tips(root).size());
    }
  }

  @Test
  void barsAreAsHighAsTheirSeconds() throws Exception {
    Study study = Studies.small();
    StackChart chart = StudyTimeSvg.chart(study);
    assertFalse(chart.shares() || chart.cuts());
    List<String> panels = chart.inPage();
    double perSecond = Double.NaN;
    for (int i = 0; i < panels.size(); i++) {
      List<Element> parts = bars(SvgReader.parse(panels.get(i)), "compute");
      int bar = 0;
      for (int devices : study.devices()) {
        if (study.at(study.strategies().get(i), devices).orElseThrow() instanceof Predicted p) {
          double seconds = p.phases().seconds(Phase.FORWARD_BACKWARD);
          double pixels = SvgReader.number(parts.get(bar++), "height");
          perSecond = Double.isNaN(perSecond) ? pixels / seconds : perSecond;
          assertEquals(seconds * perSecond, pixels, 0.02);
        }
      }
      assertEquals(bar, parts.size());
    }
  }

  @Test
  void partsOfABarStandOnEachOther() throws Exception {
    Element panel = SvgReader.parse(StudyTimeSvg.chart(Studies.small()).inPage().get(1));
    for (Element group : SvgReader.all(panel, "g")) {
      double lower = Double.NaN;
      if (group.getAttribute("class").equals("bar")) {
        for (Element part : SvgReader.all(group, "rect")) {
          double bottom = SvgReader.number(part, "y") + SvgReader.number(part, "height");
          assertTrue(Double.isNaN(lower) || Math.abs(bottom - lower) < 0.02);
          lower = SvgReader.number(part, "y");
        }
      }
    }
  }

  private static List<Element> bars(Element panel, String style) {
    return SvgReader.all(panel, "rect").stream()
        .filter(rect -> rect.getAttribute("class").equals(style))
        .toList();
  }

  @Test
  void theFrontIsWhatNothingBeatsInBoth() {
    Predicted lean = Studies.predicted(Layout.of(Strategy.ZERO3, 4, 1), 1, 3, 1e9);
    Predicted middle = Studies.predicted(Layout.of(Strategy.ZERO1, 4, 1), 1, 2, 2e9);
    Predicted beaten = Studies.predicted(Layout.of(Strategy.PIPELINE, 1, 4), 1, 2.5, 3e9);
    Predicted fast = Studies.predicted(Layout.of(Strategy.DATA, 4, 1), 1, 1, 4e9);
    assertEquals(
        List.of(lean, middle, fast), StudyParetoSvg.front(List.of(lean, middle, beaten, fast)));
  }

  @Test
  void whatNeedsManyTimesTheMemoryIsNamedBesideTheOthers() throws Exception {
    Predicted near = Studies.predicted(Layout.of(Strategy.DATA, 4, 1), 1, 1, 1e9);
    Predicted far =
        Studies.predicted(Layout.of(Strategy.SPATIAL, 1, 4), 1, 1, 17 * Studies.CAPACITY);
    List<Strategy> both = List.of(Strategy.DATA, Strategy.SPATIAL);
    Study study = Studies.of(both, List.of(4), List.of(near, far));
    List<String> texts = SvgReader.texts(SvgReader.parse(StudyParetoSvg.of(study, "far")));
    assertTrue(texts.contains("beyond: spatial 17×") && texts.contains("data"), texts.toString());
    Study alone = Studies.of(List.of(Strategy.SPATIAL), List.of(4), List.of(far));
    assertTrue(
        SvgReader.texts(SvgReader.parse(StudyParetoSvg.of(alone, "far"))).contains("spatial"));
  }

  @Test
  void whatIsBeyondIsNamedWhereTheDevicesMemoryDoesNotCrossIt() throws Exception {
    Predicted far =
        Studies.predicted(Layout.of(Strategy.SPATIAL, 1, 4), 1, 1, 17 * Studies.CAPACITY);
    Predicted full =
        Studies.predicted(Layout.of(Strategy.DATA, 4, 1), 1, 3, 0.9 * Studies.CAPACITY);
    Predicted lean = Studies.predicted(Layout.of(Strategy.ZERO1, 4, 1), 1, 1, 1e8);
    List<Strategy> all = List.of(Strategy.DATA, Strategy.ZERO1, Strategy.SPATIAL);
    Study study = Studies.of(all, List.of(4), List.of(full, lean, far));
    Element root = SvgReader.parse(StudyParetoSvg.of(study, "far"));
    Element words =
        SvgReader.all(root, "text").stream()
            .filter(text -> text.getTextContent().startsWith("beyond: "))
            .findFirst()
            .orElseThrow();
    Element limit =
        SvgReader.all(root, "path").stream()
            .filter(path -> path.getAttribute("class").equals("limit"))
            .findFirst()
            .orElseThrow();
    double line = Double.parseDouble(limit.getAttribute("d").split("[ L]", -1)[0].substring(1));
    assertTrue(SvgReader.number(words, "x") < line, words.getAttribute("x") + " " + line);
  }

  @Test
  void hollowPointsDoNotFit() throws Exception {
    Study study = Studies.small();
    Element root = SvgReader.parse(StudyScalingSvg.inPage(study, 680, 450));
    long hollow =
        SvgReader.all(root, "path").stream()
            .filter(path -> path.getAttribute("class").equals("hollow"))
            .count();
    long tooLarge = StudyStacks.predicted(study).stream().filter(p -> !p.fits()).count();
    assertEquals(tooLarge + 1, hollow, "the last point of data's line is repeated at its name");
  }

  @Test
  void escapesNames() throws Exception {
    String name = "<b> & \"quotes\" ' ]]>";
    for (String picture : pictures(Studies.extreme(), name).subList(0, 4)) {
      assertTrue(SvgReader.tips(SvgReader.parse(picture)).getFirst().endsWith(": " + name));
    }
    assertTrue(
        SvgReader.tips(SvgReader.parse(StudyTimeSvg.of(Studies.extreme(), name)))
            .contains("channel on 1 device is impossible: the model has <no> channels & \"none\""));
  }
}
