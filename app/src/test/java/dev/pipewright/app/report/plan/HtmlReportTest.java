package dev.pipewright.app.report.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.api.Planners;
import dev.pipewright.api.Problem;
import dev.pipewright.app.report.page.Markup;
import dev.pipewright.app.report.page.PageReader;
import dev.pipewright.app.report.timeline.Runs;
import dev.pipewright.trace.Timeline;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

class HtmlReportTest {
  @Test
  void loadsNothingFromAnywhere() {
    String page = HtmlReport.of(Pipelines.picture("alone", 4, 8));
    assertFalse(page.contains("http"), "a page of its own names no address");
    assertEquals(List.of(), PageReader.matches("\\b(src|@import|url\\()", page));
    assertEquals(List.of("href=\"data:,\""), PageReader.matches("href=\"[^\"]*\"", page));
  }

  @Test
  void leavesNoPlaceholder() {
    assertFalse(HtmlReport.of(Pipelines.picture("{{data}}", 2, 4)).contains("{{title}}"));
    assertTrue(HtmlReport.of(Pipelines.picture("{{data}}", 2, 4)).contains("<h1>{{data}}</h1>"));
  }

  @Test
  void embedsEverySliceAndStep() {
    Picture picture = Pipelines.picture("data", 4, 8);
    Timeline timeline = picture.timeline().orElseThrow();
    JsonNode data = PageReader.data(HtmlReport.of(picture));
    int slices = 0;
    for (JsonNode lane : data.get("runs").get(0).get("lanes")) {
      slices += lane.get("slices").size() / 4;
    }
    assertEquals(Runs.of("all", timeline).slices(), slices);
    assertEquals(timeline.stepSeconds(), data.get("step").asDouble());
    for (int i = 0; i < timeline.memory().size(); i++) {
      JsonNode steps = data.get("runs").get(0).get("memory").get(i).get("steps");
      assertEquals(2 * timeline.memory().get(i).seconds().length, steps.size());
    }
  }

  @Test
  void escapesNames() {
    String page = HtmlReport.of(Pipelines.picture("<b> & \"it's\" </script><!--", 2, 4));
    assertTrue(
        page.contains("<h1>&lt;b&gt; &amp; &quot;it&#39;s&quot; &lt;/script&gt;&lt;!--</h1>"));
    assertEquals(2, PageReader.matches("</script>", page).size(), "the data's and the code's");
  }

  @Test
  void stringsInDataCannotEndTheirElement() {
    StringBuilder out = new StringBuilder();
    String nasty = "</script> <!-- & \" \\ \n \u2028 \ud83d\ude80 \ud83d";
    Markup.quote(out, nasty);
    assertFalse(out.toString().contains("<"));
    assertEquals(nasty, PageReader.json(out.toString()).asString());
  }

  @Test
  void partsOfAStepAddUp() {
    Timeline timeline = Pipelines.timeline(4, 8, 0.010, 0.020, 0.003, 0.025);
    for (Occupation stage : Occupation.of(timeline)) {
      double sum = 0;
      for (Occupation.Part part : Occupation.Part.values()) {
        sum += stage.seconds(part);
      }
      assertEquals(timeline.stepSeconds(), sum, 1e-12);
      assertEquals(8 * 0.010, stage.seconds(Occupation.Part.FORWARD), 1e-12);
      assertEquals(8 * 0.020, stage.seconds(Occupation.Part.BACKWARD), 1e-12);
      assertEquals(0.025, stage.seconds(Occupation.Part.EXPOSED), 1e-12);
    }
  }

  /** Passes of all kinds count, as in the idle share that the report states. */
  @ParameterizedTest
  @ValueSource(strings = {"1f1b", "zb-h1", "interleaved", "zb-v"})
  void passesAndIdleTimeAreThoseOfTheTimeline(String schedule) {
    Timeline timeline =
        Planners.plan(Problem.of("bert-48", "dapple-a:1x4", 16).withSchedule(schedule))
            .step()
            .timeline();
    List<Occupation> ranks = Occupation.of(timeline);
    assertEquals(timeline.compute().size(), ranks.size());
    for (Occupation rank : ranks) {
      double passes =
          rank.seconds(Occupation.Part.FORWARD) + rank.seconds(Occupation.Part.BACKWARD);
      double busy = timeline.stepSeconds() * (1 - timeline.idleShare(rank.rank()));
      assertEquals(busy, passes, 1e-9 * timeline.stepSeconds());
    }
  }
}
