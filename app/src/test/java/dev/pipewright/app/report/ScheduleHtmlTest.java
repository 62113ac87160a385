package dev.pipewright.app.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.ZeroBubbleH1;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;

class ScheduleHtmlTest {
  private static final ScheduleRun PLAIN = ScheduleRuns.of(OneForwardOneBackward.of(4, 8), 1);
  private static final ScheduleRun OTHER = ScheduleRuns.of(ZeroBubbleH1.of(4, 8), 1);

  @Test
  void loadsNothingAndNeedsNoScript() {
    for (List<ScheduleRun> runs : List.of(List.of(PLAIN), List.of(PLAIN, OTHER))) {
      String page = ScheduleHtml.of(runs);
      assertEquals(List.of(), PageReader.matches("(?:src|href)=\"(?!data:)[^\"]*\"", page));
      assertEquals(List.of(), PageReader.matches("url\\(|@import|<script|https?://", page));
      assertFalse(page.contains("{{"), "a placeholder is left");
    }
  }

  @Test
  void pageIsWellFormed() throws Exception {
    for (ScheduleRun run : List.of(PLAIN, ScheduleRuns.ring(), ScheduleRuns.replicas())) {
      SvgReader.parse(wellFormed(ScheduleHtml.of(List.of(run, PLAIN))));
    }
  }

  /** The page with the elements closed that HTML leaves open. */
  private static String wellFormed(String page) {
    return page.replaceFirst("<!DOCTYPE html>", "").replaceAll("<((?:meta|link)[^>]*)>", "<$1/>");
  }

  @Test
  void figuresAreStated() throws Exception {
    Element page = SvgReader.parse(wellFormed(ScheduleHtml.of(List.of(PLAIN))));
    List<String> figures =
        SvgReader.all(SvgReader.all(page, "dl").get(0), "b").stream()
            .map(Element::getTextContent)
            .toList();
    assertEquals(List.of("33", "27.3 %", "4"), figures); // equal idle shares are stated once
  }

  @Test
  void whatTakesNoTimeIsNotInTheLegend() {
    String timed = ScheduleHtml.of(List.of(ScheduleRuns.replicas()));
    assertTrue(timed.contains("gradients added up") && timed.contains("exchanges that overlap"));
    ScheduleRun free = ScheduleRuns.of(ScheduleRuns.replicas().schedule(), 2);
    String page = ScheduleHtml.of(List.of(free));
    assertTrue(page.contains("backward</li>"), "what takes time is there");
    for (String absent : List.of("gradients added up", "exchanges that overlap", ">update<")) {
      assertFalse(page.contains(absent), absent);
    }
  }

  /** What is longer than a telephone is wide belongs into a line that wraps, not into a picture. */
  @Test
  void headingsInThePictureAreShortAndTheRestIsSaidAbove() {
    for (ScheduleRun run : List.of(PLAIN, ScheduleRuns.capped(PLAIN, 3.0))) {
      String page = ScheduleHtml.of(List.of(run));
      assertTrue(page.contains(">activations held</text>"), page);
      assertTrue(page.contains("; activations held are in micro-batches of a stage"), page);
      assertEquals(run.isCapped(), page.contains("stage; the cap is 3 (dashed)"), page);
    }
  }

  @Test
  void theCapIsStatedForAllOrByRank() {
    assertTrue(
        ScheduleHtml.of(List.of(ScheduleRuns.capped(PLAIN, 3.0))).contains("; the cap is 3<"));
    ScheduleRun byRank = ScheduleRuns.capped(PLAIN, 4.0, 3.0, 2.5, 1.0);
    assertTrue(ScheduleHtml.of(List.of(byRank)).contains("; the cap is 4:3:2.5:1<"));
  }

  @Test
  void comparedSchedulesHaveARowEach() throws Exception {
    Element page = SvgReader.parse(wellFormed(ScheduleHtml.of(List.of(PLAIN, OTHER))));
    List<String> rows =
        SvgReader.all(SvgReader.all(page, "table").get(0), "tr").stream()
            .skip(1)
            .map(row -> String.join("|", cells(row)))
            .toList();
    assertEquals(List.of("1f1b|33|–|27.3 %|27.3 %|4", "zb-h1|27|−18.2 %|11.1 %|11.1 %|4"), rows);
  }

  private static List<String> cells(Element row) {
    return SvgReader.all(row, "td").stream().map(Element::getTextContent).toList();
  }

  @Test
  void everyOpSaysWhatItIs() {
    String page = ScheduleHtml.of(List.of(PLAIN, OTHER));
    long ops = PLAIN.schedule().size() + OTHER.schedule().size();
    assertEquals(ops, PageReader.matches("<title>[A-Z]\\d+: [^<]*</title>", page).size());
    assertTrue(page.contains("<title>F7: forward of stage 0, rank 0: 21 to 22</title>"), page);
  }

  @Test
  void everyClassOfThePictureHasItsColour() {
    for (ScheduleRun run : List.of(PLAIN, OTHER, ScheduleRuns.ring(), ScheduleRuns.replicas())) {
      String page = ScheduleHtml.of(List.of(run));
      String style = page.substring(0, page.indexOf("</style>"));
      for (String use : PageReader.matches("<(?:rect|path|text)[^>]*class=\"[^\"]*\"", page)) {
        String name = use.replaceAll(".*class=\"([^\"]*)\"", "$1");
        assertTrue(style.contains(".study ." + name + " {"), name);
      }
    }
  }
}
