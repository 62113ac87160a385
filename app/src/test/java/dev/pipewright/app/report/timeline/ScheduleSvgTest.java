package dev.pipewright.app.report.timeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.app.report.chart.Look;
import dev.pipewright.app.report.chart.SvgReader;
import dev.pipewright.schedule.Chimera;
import dev.pipewright.schedule.DualPipeV;
import dev.pipewright.schedule.GPipe;
import dev.pipewright.schedule.Interleaved;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.ZeroBubbleH1;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.trace.Timeline.Lane;
import dev.pipewright.trace.Timeline.Memory;
import dev.pipewright.trace.Timeline.Slice;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;

class ScheduleSvgTest {
  private static final Shown PLAIN = ScheduleRuns.of(OneForwardOneBackward.of(4, 8), 1);
  private static final Shown PAIRS = ScheduleRuns.of(DualPipeV.of(4, 10), 2);
  private static final Shown UNEVEN =
      ScheduleRuns.of(
          OneForwardOneBackward.of(3, 12), 1, OpTimes.equal(3, 0.3141, 0.2718, 0.5772, 0.01));
  private static final List<Shown> RUNS =
      List.of(
          ScheduleRuns.of(GPipe.of(1, 1), 1),
          PLAIN,
          ScheduleRuns.capped(PLAIN, 3.0),
          ScheduleRuns.capped(PLAIN, 6.0, 3.0, 1.0, 70.0),
          PAIRS,
          UNEVEN,
          ScheduleRuns.ring(),
          ScheduleRuns.replicas(),
          ScheduleRuns.of(Interleaved.of(4, 3, 8), 3),
          ScheduleRuns.of(Chimera.of(4, 8), 1),
          ScheduleRuns.of(OneForwardOneBackward.of(32, 200), 1),
          ScheduleRuns.of(GPipe.of(1200, 1), 1));

  private static String svg(Shown... runs) {
    return TimelineSvg.of("schedule", ScheduleRuns.shown(runs));
  }

  /** Cells are the rectangles that say what they are. */
  private static List<Element> cells(Element root) {
    return SvgReader.all(root, "rect").stream()
        .filter(rect -> rect.getElementsByTagName("title").getLength() == 1)
        .toList();
  }

  private static List<Element> ofClass(Element root, String name, String style) {
    return SvgReader.all(root, name).stream()
        .filter(element -> element.getAttribute("class").equals(style))
        .toList();
  }

  /** Pixels of a unit of time, read off what lies behind the first rank's cells. */
  private static double perSecond(Element root, Shown first) {
    return SvgReader.number(ofClass(root, "rect", "plot").get(0), "width") / first.makespan();
  }

  @Test
  void everythingIsInsideThePicture() throws Exception {
    for (Shown run : RUNS) {
      SvgReader.assertInside(svg(run));
    }
    SvgReader.assertInside(svg(RUNS.subList(0, 5).toArray(new Shown[0])));
  }

  @Test
  void everyOpIsACellInItsTimeAndAsLongAsItTakes() throws Exception {
    for (Shown run : RUNS) {
      Element root = SvgReader.parse(svg(run));
      double perSecond = perSecond(root, run);
      double left = SvgReader.number(ofClass(root, "rect", "plot").get(0), "x");
      List<Element> cells = cells(root);
      assertEquals(run.slices(), cells.size());
      int at = 0;
      for (Lane.Compute lane : run.ranks()) {
        for (boolean exchanges : new boolean[] {false, true}) {
          for (Slice slice : lane.slices()) {
            if (slice.kind().exchanges() == exchanges) {
              Element cell = cells.get(at++);
              double start = left + slice.start() * perSecond;
              double wide = slice.seconds() * perSecond;
              assertEquals(start, SvgReader.number(cell, "x"), 0.03);
              assertEquals(wide, SvgReader.number(cell, "width"), exchanges ? 2 : 0.03);
              String word = Look.of(slice.kind()).letter + "" + slice.microBatch() + ": ";
              String tip = SvgReader.tips(cell).get(0);
              assertTrue(tip.startsWith(word) && tip.contains(", rank " + lane.rank() + ": "), tip);
            }
          }
        }
      }
    }
  }

  @Test
  void opsOfARankNeverCoverEachOther() throws Exception {
    for (Shown run : List.of(PAIRS, ScheduleRuns.ring(), ScheduleRuns.replicas())) {
      List<Element> cells = cells(SvgReader.parse(svg(run)));
      for (int i = 0; i < cells.size(); i++) {
        Element one = cells.get(i);
        for (Element other : cells.subList(0, i)) {
          boolean apart =
              end(one, "x", "width") <= SvgReader.number(other, "x") + 0.02
                  || end(other, "x", "width") <= SvgReader.number(one, "x") + 0.02
                  || end(one, "y", "height") <= SvgReader.number(other, "y") + 0.02
                  || end(other, "y", "height") <= SvgReader.number(one, "y") + 0.02;
          assertTrue(apart, () -> SvgReader.tips(one) + " covers " + SvgReader.tips(other));
        }
      }
    }
  }

  private static double end(Element rect, String from, String length) {
    return SvgReader.number(rect, from) + SvgReader.number(rect, length);
  }

  @Test
  void numbersStandInTheirCells() throws Exception {
    for (Shown run : List.of(PLAIN, PAIRS, UNEVEN, RUNS.get(10))) {
      Element root = SvgReader.parse(svg(run));
      List<Element> cells = cells(root);
      List<Element> numbers =
          SvgReader.all(root, "text").stream()
              .filter(text -> List.of("black", "white").contains(text.getAttribute("class")))
              .toList();
      assertTrue(numbers.size() > run.slices() / 2, "most ops say their micro-batch");
      int at = 0;
      for (Element number : numbers) {
        double[] box = SvgReader.box(number);
        while (!holds(cells.get(at), box)) {
          at++; // throws where no cell holds it
        }
        String tip = SvgReader.tips(cells.get(at)).get(0);
        assertEquals(number.getTextContent(), tip.substring(1, tip.indexOf(':')));
      }
    }
  }

  private static boolean holds(Element cell, double[] box) {
    return SvgReader.number(cell, "x") <= box[0] + 0.5
        && box[2] - 0.5 <= end(cell, "x", "width")
        && SvgReader.number(cell, "y") <= box[1] + 3 // letters reach higher than digits
        && box[3] - 3 <= end(cell, "y", "height");
  }

  @Test
  void comparedSchedulesHaveTheSameScale() throws Exception {
    Shown other = ScheduleRuns.of(ZeroBubbleH1.of(4, 8), 1);
    Element root = SvgReader.parse(svg(PLAIN, other));
    List<Element> cells = cells(root);
    double perSecond = perSecond(root, PLAIN);
    int at = 0;
    for (Shown run : List.of(PLAIN, other)) {
      double left = SvgReader.number(cells.get(at), "x");
      for (Lane.Compute lane : run.ranks()) {
        for (Slice slice : lane.slices()) {
          double x = SvgReader.number(cells.get(at++), "x");
          assertEquals(slice.start() * perSecond, x - left, 0.03);
        }
      }
    }
    List<String> texts = SvgReader.texts(root);
    assertTrue(texts.containsAll(List.of("33", "27", "27.3 %", "11.1 %", "−18.2 %")), "" + texts);
  }

  @Test
  void passesAndChunksHaveColoursOfTheirOwn() throws Exception {
    Element root = SvgReader.parse(svg(PAIRS));
    List<String> classes =
        cells(root).stream().map(cell -> cell.getAttribute("class")).distinct().toList();
    assertEquals(8, classes.size()); // F, B, I, W of two chunks
    String style = SvgReader.all(root, "style").get(0).getTextContent();
    List<String> colours =
        classes.stream()
            .map(name -> style.replaceAll("(?s).*\\." + name + " \\{ fill: (#[0-9A-F]{6}).*", "$1"))
            .distinct()
            .toList();
    assertEquals(8, colours.size(), style);
    assertTrue(colours.stream().allMatch(colour -> colour.matches("#[0-9A-F]{6}")), "" + colours);
  }

  @Test
  void blackOrWhiteCanBeReadOnEveryShade() {
    for (Look look : Look.values()) {
      for (int shade = 0; shade <= 7; shade++) {
        int colour = Integer.parseInt(look.fill(shade, 7).substring(1), 16);
        double ground = luminance(colour);
        double ink = look.isLight(shade, 7) ? 0 : 1;
        double contrast = (Math.max(ground, ink) + 0.05) / (Math.min(ground, ink) + 0.05);
        assertTrue(contrast >= 4.5, look + " " + shade + ": " + contrast);
      }
    }
  }

  private static double luminance(int colour) {
    double[] weights = {0.0722, 0.7152, 0.2126};
    return IntStream.range(0, 3)
        .mapToDouble(
            i -> weights[i] * Math.pow((((colour >> (8 * i)) & 255) / 255.0 + 0.055) / 1.055, 2.4))
        .sum();
  }

  @Test
  void theStripBelowPeaksAtWhatIsHeld() throws Exception {
    for (Shown run : RUNS) {
      Element root = SvgReader.parse(svg(run));
      double strip = SvgReader.number(lastPlot(root), "height");
      double most = Math.max(run.peak(), shownCap(run));
      double[] peaks =
          ofClass(root, "path", "held").stream()
              .mapToDouble(area -> height(area) / strip * most)
              .toArray();
      for (Memory memory : run.timeline().memory()) {
        assertEquals(memory.peak(), peaks[memory.rank()], 0.02 * most, run.name());
      }
    }
  }

  /** The highest that is drawn: none above four times the peak. */
  private static double shownCap(Shown run) {
    return run.timeline().memory().stream()
        .mapToDouble(Memory::capacity)
        .filter(cap -> cap <= 4 * run.peak())
        .max()
        .orElse(0);
  }

  private static Element lastPlot(Element root) {
    List<Element> plots = ofClass(root, "rect", "plot");
    return plots.get(plots.size() - 1);
  }

  private static double height(Element area) {
    String[] points = area.getAttribute("d").replaceAll("[MZ]", "").split("[L ]", -1);
    double floor = Double.parseDouble(points[1]);
    return floor
        - IntStream.range(0, points.length / 2)
            .mapToDouble(i -> Double.parseDouble(points[2 * i + 1]))
            .min()
            .orElse(floor);
  }

  @Test
  void areasGoForwardInTime() throws Exception {
    for (Shown run : RUNS) {
      for (Element area : ofClass(SvgReader.parse(svg(run)), "path", "held")) {
        double[] x =
            Arrays.stream(area.getAttribute("d").replaceAll("[MZ]", "").split("L", -1))
                .mapToDouble(point -> Double.parseDouble(point.split(" ", -1)[0]))
                .toArray();
        for (int i = 1; i < x.length; i++) {
          assertTrue(x[i] >= x[i - 1], area.getAttribute("d"));
        }
      }
    }
  }

  @Test
  void aCapIsALineInEveryStrip() throws Exception {
    Element root = SvgReader.parse(svg(ScheduleRuns.capped(PLAIN, 3.0)));
    assertEquals(4, ofClass(root, "path", "limit").size());
    assertTrue(
        SvgReader.texts(root)
            .contains("activations held, in micro-batches of a stage; the cap is 3 (dashed)"));
    assertTrue(SvgReader.texts(root).contains("! 4"));
    Element free = SvgReader.parse(svg(PLAIN));
    assertEquals(0, ofClass(free, "path", "limit").size());
  }

  @Test
  void capsByRankAreLinesAtTheirOwnHeights() throws Exception {
    Shown run = ScheduleRuns.capped(PLAIN, 6.0, 3.0, 1.0, 70.0);
    Element root = SvgReader.parse(svg(run));
    List<Element> strips = ofClass(root, "rect", "plot").subList(4, 8);
    List<Element> lines = ofClass(root, "path", "limit");
    assertEquals(3, lines.size()); // the fourth is far above what is held
    for (int rank = 0; rank < lines.size(); rank++) {
      double height = SvgReader.number(strips.get(rank), "height");
      double floor = SvgReader.number(strips.get(rank), "y") + height;
      double line = Double.parseDouble(lines.get(rank).getAttribute("d").split("[ L]", -1)[1]);
      assertEquals(run.timeline().memory().get(rank).capacity() / 6 * height, floor - line, 0.02);
    }
    List<String> texts = SvgReader.texts(root);
    assertTrue(
        texts.contains(
            "activations held, in micro-batches of a stage; the cap is 6:3:1:70 (dashed)"));
    assertEquals(List.of("! 2"), texts.stream().filter(text -> text.startsWith("! ")).toList());
  }

  @Test
  void arrowsAreBelowTheCellsWhoseNumbersTheyWouldCross() {
    String svg = svg(ScheduleRuns.ring());
    int arrows = svg.indexOf("<g class=\"arrow\"");
    assertTrue(arrows > 0);
    assertTrue(arrows < svg.indexOf("<g class=\"cells\""), svg);
    assertTrue(arrows > svg.indexOf("class=\"plot\""), svg);
  }

  @Test
  void whatIsTakenOverHasAnArrowFromTheRankBefore() throws Exception {
    Element root = SvgReader.parse(svg(ScheduleRuns.ring()));
    assertEquals(5, ofClass(root, "path", "head").size()); // of six turns the first has none
    assertFalse(svg(ScheduleRuns.replicas()).contains("class=\"head\""));
  }

  @Test
  void timesAndFiguresAreStated() throws Exception {
    List<String> texts = SvgReader.texts(SvgReader.parse(svg(PLAIN)));
    assertTrue(texts.contains("op times: F 1, B 1, W 1"), texts.toString());
    assertTrue(
        texts.contains(
            "makespan 33; idle 27.3 % of it, 27.3 % of the longest rank's span; peak activations"
                + " 4"),
        texts.toString());
  }
}
