package dev.pipewright.app.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.schedule.Chimera;
import dev.pipewright.schedule.DualPipeV;
import dev.pipewright.schedule.GPipe;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.Schedule;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;

class ScheduleSvgTest {
  private static final List<ScheduleRun> RUNS =
      List.of(
          ScheduleRuns.of(GPipe.of(1, 1), 1),
          ScheduleRuns.of(OneForwardOneBackward.of(4, 8), 1),
          ScheduleRuns.of(DualPipeV.of(4, 10), 2),
          ScheduleRuns.of(Chimera.of(4, 8), 1),
          ScheduleRuns.of(OneForwardOneBackward.of(32, 200), 1));

  /** Cells are the rectangles that say what they are. */
  private static List<Element> cells(Element root) {
    return SvgReader.all(root, "rect").stream()
        .filter(rect -> rect.getElementsByTagName("title").getLength() == 1)
        .toList();
  }

  @Test
  void everythingIsInsideThePicture() throws Exception {
    for (ScheduleRun run : RUNS) {
      SvgReader.assertInside(ScheduleSvg.of(run));
    }
  }

  @Test
  void everyOpIsACellInItsRowAndTime() throws Exception {
    for (ScheduleRun run : RUNS) {
      Element root = SvgReader.parse(ScheduleSvg.of(run));
      List<Element> cells = cells(root);
      assertEquals(run.schedule().size(), cells.size());
      double left = SvgReader.number(cells.get(0), "x"); // rank 0 begins at once
      double perSecond = (SvgReader.number(root, "width") - 160) / run.makespan();
      int at = 0;
      for (int rank = 0; rank < run.schedule().ranks(); rank++) {
        for (int i = 0; i < run.schedule().packed(rank).length; i++, at++) {
          double x = SvgReader.number(cells.get(at), "x");
          assertEquals(left + run.starts()[rank][i] * perSecond, x, 0.02);
          String tip = SvgReader.tips(cells.get(at)).get(0);
          int microBatch = Schedule.microBatch(run.schedule().packed(rank)[i]);
          assertTrue(tip.contains("micro-batch " + microBatch + ":"), tip);
        }
      }
    }
  }

  @Test
  void opsOfARankNeverCoverEachOther() throws Exception {
    List<Element> cells = cells(SvgReader.parse(ScheduleSvg.of(RUNS.get(2))));
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

  private static double end(Element rect, String from, String length) {
    return SvgReader.number(rect, from) + SvgReader.number(rect, length);
  }

  @Test
  void passesAndChunksHaveColoursOfTheirOwn() throws Exception {
    List<Element> cells = cells(SvgReader.parse(ScheduleSvg.of(RUNS.get(2))));
    long colours = cells.stream().map(cell -> cell.getAttribute("fill")).distinct().count();
    assertEquals(8, colours); // F, B, I, W of two chunks
  }

  @Test
  void theStripBelowPeaksAtWhatIsHeld() throws Exception {
    ScheduleRun run = RUNS.get(1);
    Element root = SvgReader.parse(ScheduleSvg.of(run));
    List<Element> areas =
        SvgReader.all(root, "path").stream()
            .filter(path -> path.getAttribute("fill").equals("#8A939C"))
            .toList();
    int[] heights =
        areas.stream()
            .map(area -> area.getAttribute("d").replaceAll("[MZ]", "").split("[L ]"))
            .mapToInt(points -> {
              double floor = Double.parseDouble(points[1]);
              double top =
                  IntStream.range(0, points.length / 2)
                      .mapToDouble(i -> Double.parseDouble(points[2 * i + 1]))
                      .min()
                      .orElseThrow();
              return (int) Math.round((floor - top) / 20 * 4);
            })
            .toArray();
    assertEquals("[4, 3, 2, 1]", java.util.Arrays.toString(heights));
  }

  @Test
  void timesAndFiguresAreStated() throws Exception {
    List<String> texts = SvgReader.texts(SvgReader.parse(ScheduleSvg.of(RUNS.get(1))));
    assertTrue(
        texts.contains(
            "makespan 33; idle 27.3 % of it, 27.3 % of the longest rank's span; op times: F 1, B 1,"
                + " W 1"),
        texts.toString());
  }
}
