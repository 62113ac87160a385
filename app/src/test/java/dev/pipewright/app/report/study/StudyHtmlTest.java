package dev.pipewright.app.report.study;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.app.report.chart.SvgReader;
import dev.pipewright.app.report.page.PageReader;
import dev.pipewright.predict.paradl.Strategy;
import dev.pipewright.predict.paradl.Study;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class StudyHtmlTest {
  private static String page(Study study, String title) {
    return StudyHtml.of(study, Studies.asked(title), Optional.empty());
  }

  @Test
  void loadsNothingFromAnywhereAndRunsNothing() {
    String page = page(Studies.large(11), "alone");
    assertFalse(page.contains("http"), "a page of its own names no address");
    assertEquals(List.of(), PageReader.matches("\\b(src=|@import|url\\(|<script|onclick)", page));
    assertEquals(List.of("href=\"data:,\""), PageReader.matches("href=\"[^\"]*\"", page));
  }

  @Test
  void elementsAreNestedAsInXml() throws Exception {
    for (Study study : List.of(Studies.small(), Studies.large(11), Studies.extreme())) {
      String page = page(study, "<nested> & \"all\"");
      String body = page.substring(page.indexOf("<main>"), page.indexOf("</main>") + 7);
      SvgReader.parse(body);
    }
  }

  @Test
  void hasAPanelForEachStrategyAndTwoSizesOfEachChart() {
    String page = page(Studies.large(11), "panels");
    for (Strategy strategy : Strategy.values()) {
      assertTrue(page.contains("aria-label=\"Time of one iteration: " + strategy + "\""));
      assertTrue(page.contains("aria-label=\"Memory of the fullest device: " + strategy + "\""));
    }
    assertEquals(2, PageReader.matches("<svg [^>]*aria-label=\"Samples per second\"", page).size());
    assertEquals(2, PageReader.matches("<svg [^>]*aria-label=\"Time against memory", page).size());
  }

  @Test
  void saysTheAnswerFirst() {
    Study study = Studies.small();
    String page = page(study, "answer");
    String answer = "On 256 devices choose data+spatial: ";
    assertTrue(StudyWords.answer(study).startsWith(answer));
    assertTrue(page.contains("<p class=\"answer\">" + answer));
    assertTrue(page.indexOf("class=\"answer\"") < page.indexOf("<svg"));
  }

  @Test
  void idsAreUnique() {
    List<String> ids = PageReader.matches(" id=\"[^\"]*\"", page(Studies.large(11), "ids"));
    assertEquals(ids.size(), ids.stream().distinct().count());
  }

  @Test
  void escapesNamesAndReasons() {
    String page = page(Studies.extreme(), "<b> & \"it's\" {{style}}</style>");
    assertTrue(
        page.contains("<h1>&lt;b&gt; &amp; &quot;it&#39;s&quot; {{style}}&lt;/style&gt;</h1>"));
    assertFalse(page.contains("<no>"));
    assertTrue(page.contains("the model has &lt;no&gt; channels &amp; &quot;none&quot;"));
  }

  @Test
  void saysWhenNothingFits() {
    String page = page(Studies.study(List.of(Strategy.DATA), List.of(16, 32)), "nothing");
    assertTrue(page.contains("None of the strategies asked for fits the devices’ memory."));
    assertTrue(page.contains("Not considered: recomputation, "));
  }

  @Test
  void canBeMadeOfStrategiesOfWhichNoneCanRun() {
    String page = page(Studies.study(List.of(Strategy.SERIAL), List.of(2, 4)), "none");
    assertTrue(page.contains("no layer can be cut into more than 1 parts"));
  }
}
