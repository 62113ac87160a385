package dev.pipewright.app.report.timeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.app.report.chart.Look;
import dev.pipewright.app.report.chart.SvgReader;
import dev.pipewright.app.report.page.PageReader;
import dev.pipewright.schedule.DualPipeV;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.ZeroBubbleH1;
import dev.pipewright.trace.Timeline.Lane;
import dev.pipewright.trace.Timeline.Memory;
import dev.pipewright.trace.Timeline.Slice;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;
import tools.jackson.databind.JsonNode;

class ScheduleHtmlTest {
  private static final Shown PLAIN = ScheduleRuns.of(OneForwardOneBackward.of(4, 8), 1);
  private static final Shown OTHER = ScheduleRuns.of(ZeroBubbleH1.of(4, 8), 1);

  private static String page(Shown... runs) {
    StringBuilder out = new StringBuilder();
    try {
      ScheduleHtml.write(ScheduleRuns.shown(runs), out);
    } catch (IOException impossible) {
      throw new AssertionError(impossible);
    }
    return out.toString();
  }

  @Test
  void loadsNothing() {
    for (Shown[] runs : new Shown[][] {{PLAIN}, {PLAIN, OTHER}}) {
      String page = page(runs);
      assertEquals(List.of(), PageReader.matches("(?:src|href)=\"(?!data:)[^\"]*\"", page));
      assertEquals(List.of(), PageReader.matches("url\\(|@import|https?://", page));
      assertFalse(page.contains("{{"), "a placeholder is left");
    }
  }

  @Test
  void pageIsWellFormed() throws Exception {
    for (Shown run : List.of(PLAIN, ScheduleRuns.ring(), ScheduleRuns.replicas())) {
      SvgReader.parse(wellFormed(page(run, PLAIN)));
    }
  }

  /** The page with the elements closed that HTML leaves open, and without its scripts. */
  private static String wellFormed(String page) {
    return page.replaceFirst("<!DOCTYPE html>", "")
        .replaceAll("(?s)<script[^>]*>.*?</script>", "")
        .replaceAll(" hidden(?=[ >])", " hidden=\"\"")
        .replaceAll("<((?:meta|link)[^>]*)>", "<$1/>");
  }

  @Test
  void figuresAreStated() throws Exception {
    Element page = SvgReader.parse(wellFormed(page(PLAIN)));
    List<String> figures =
        SvgReader.all(SvgReader.all(page, "dl").get(0), "b").stream()
            .map(Element::getTextContent)
            .toList();
    assertEquals(List.of("33", "27.3 %", "4"), figures); // equal idle shares are stated once
  }

  @Test
  void exchangesAreExplainedWhereTheyTakeTime() {
    assertTrue(page(ScheduleRuns.replicas()).contains("exchanges that overlap"));
    assertFalse(page(PLAIN).contains("exchanges that overlap"));
  }

  /** What is longer than a telephone is wide belongs into a line that wraps, not into a picture. */
  @Test
  void whatIsHeldIsSaidAboveThePicture() {
    for (Shown run : List.of(PLAIN, ScheduleRuns.capped(PLAIN, 3.0))) {
      String page = page(run);
      assertEquals("activations held", PageReader.data(page).get("memory").asString());
      assertTrue(page.contains("; activations held are in micro-batches of a stage"), page);
      assertEquals(run.isCapped(), page.contains("stage; the cap is 3 (dashed)"), page);
    }
  }

  @Test
  void theCapIsStatedForAllOrByRank() {
    assertTrue(page(ScheduleRuns.capped(PLAIN, 3.0)).contains("; the cap is 3<"));
    Shown byRank = ScheduleRuns.capped(PLAIN, 4.0, 3.0, 2.5, 1.0);
    assertTrue(page(byRank).contains("; the cap is 4:3:2.5:1<"));
    JsonNode memory = PageReader.data(page(byRank)).get("runs").get(0).get("memory");
    assertEquals(2.5, memory.get(2).get("capacity").asDouble());
  }

  @Test
  void comparedSchedulesHaveARowEach() throws Exception {
    Element page = SvgReader.parse(wellFormed(page(PLAIN, OTHER)));
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

  /** The script says of a slice under the pointer what stands here. */
  @Test
  void everyOpIsInTheDataInOrderOfTime() {
    for (Shown run : runs()) {
      JsonNode data = PageReader.data(page(run));
      double perPart = run.makespan() / TimelineData.PARTS;
      for (Lane.Compute lane : run.ranks()) {
        JsonNode packed = data.get("runs").get(0).get("lanes").get(lane.rank());
        JsonNode slices = packed.get("slices");
        List<Slice> sorted =
            lane.slices().stream().sorted((a, b) -> Double.compare(a.start(), b.start())).toList();
        assertEquals(4 * sorted.size(), slices.size());
        long end = 0;
        long before = 0;
        for (int i = 0; i < sorted.size(); i++) {
          Slice slice = sorted.get(i);
          int code = slices.get(4 * i).asInt();
          assertEquals(slice.stage(), packed.get("stages").get(code / 2048).asInt());
          String kind = data.get("kinds").get(code % 16).get("word").asString();
          assertEquals(Look.of(slice.kind()).word, kind);
          boolean apart =
              slice.kind().exchanges()
                  && Lanes.overlaps(lane.slices(), lane.slices().indexOf(slice));
          assertEquals(apart ? 1 : 0, code / 16 % 2);
          assertEquals(slice.microBatch(), slices.get(4 * i + 1).asInt());
          long start = end + slices.get(4 * i + 2).asLong();
          end = start + slices.get(4 * i + 3).asLong();
          assertTrue(start >= before, "the script searches by start");
          before = start;
          assertEquals(slice.start(), start * perPart, perPart);
          assertEquals(slice.end(), end * perPart, perPart);
        }
      }
    }
  }

  @Test
  void opsThatRunTogetherShareTheHeightOfTheirRow() {
    JsonNode lanes =
        PageReader.data(page(ScheduleRuns.of(DualPipeV.of(4, 10), 2)))
            .get("runs")
            .get(0)
            .get("lanes");
    int pairs = 0;
    for (JsonNode lane : lanes) {
      JsonNode slices = lane.get("slices");
      for (int i = 0; i + 7 < slices.size(); i += 4) {
        boolean together = slices.get(i + 6).asLong() == -slices.get(i + 3).asLong(); // gap, length
        int height = slices.get(i).asInt() / 32 % 64;
        assertEquals(together, height == 8, "the first of two");
        assertTrue(!together || slices.get(i + 4).asInt() / 32 % 64 == 9, "the second of two");
        pairs += together ? 1 : 0;
      }
    }
    assertTrue(pairs > 20, pairs + " pairs");
  }

  private static List<Shown> runs() {
    return List.of(
        PLAIN,
        OTHER,
        ScheduleRuns.of(DualPipeV.of(4, 10), 2),
        ScheduleRuns.ring(),
        ScheduleRuns.replicas());
  }

  @Test
  void whatIsHeldIsInTheData() {
    for (Shown run : runs()) {
      JsonNode strips = PageReader.data(page(run)).get("runs").get(0).get("memory");
      for (Memory memory : run.timeline().memory()) {
        JsonNode steps = strips.get(memory.rank()).get("steps");
        assertEquals(2 * memory.bytes().length, steps.size());
        for (int i = 0; i < memory.bytes().length; i++) {
          assertEquals(memory.bytes()[i], steps.get(2 * i + 1).asDouble(), 1e-4);
        }
      }
    }
  }

  @Test
  void statesThatArriveHaveArrows() {
    JsonNode ring = PageReader.data(page(ScheduleRuns.ring())).get("runs").get(0).get("arrows");
    assertEquals(5, ring.size()); // of six turns the first has none
    for (JsonNode arrow : ring) {
      assertEquals((arrow.get(0).asInt() + 1) % 3, arrow.get(1).asInt());
    }
    assertEquals(0, PageReader.data(page(PLAIN)).get("runs").get(0).get("arrows").size());
  }

  @Test
  void everyKindHasItsColourInLightAndPrint() {
    String page = page(PLAIN);
    for (Look look : Look.values()) {
      String style = look.name().toLowerCase(Locale.ROOT).replace('_', '-');
      assertTrue(PageReader.matches("--" + style + ": #[0-9a-f]{6};", page).size() >= 1, style);
    }
  }
}
