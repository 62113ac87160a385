package dev.pipewright.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.units.Units;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Plans and schedules next to each other, without a browser. */
class CompareTest {
  private static final Pattern STEP =
      Pattern.compile("(?s)\"simulated\": \\{[^}]*?\"step_s\": ([0-9.E-]+)");

  @TempDir static Path folder;
  private static SiteUnderTest site;
  private static String first;
  private static String second;

  @BeforeAll
  static void open() throws Exception {
    site = new SiteUnderTest(folder.resolve("data"));
    first =
        site.study(Map.of("model", "bert-48", "cluster", "dapple-a", "batch", "64", "limit", "5"));
    second =
        site.study(
            Map.of(
                "model",
                "bert-48",
                "cluster",
                "dapple-a",
                "batch",
                "64",
                "limit",
                "5",
                "objective",
                "memory"));
  }

  @AfterAll
  static void close() {
    site.close();
  }

  private static String id(String link) {
    return link.replace("/study/", "");
  }

  private static String step(String link) throws Exception {
    Matcher found = STEP.matcher(site.get(link + "/answer.json").body());
    assertTrue(found.find());
    return Units.seconds(Double.parseDouble(found.group(1)));
  }

  private static void has(String page, String... all) {
    for (String each : all) {
      assertTrue(page.contains(each), () -> each + " is not in " + page);
    }
  }

  @Test
  void plansAreSimulatedAsTheirStudiesWere() throws Exception {
    String path = "/compare?study=" + id(first) + "&study=" + id(second);
    String page = site.get(path).body();
    has(page, step(first), step(second), "plan A", "plan B", "peak memory", "layers of stages");
    has(page, "<h2 id=\"differences\">Differences</h2>");
    assertFalse(page.contains("<td data-label=\"decision\">model</td>"), page);
    HttpResponse<String> picture = site.get(path.replace("/compare", "/compare/picture.svg"));
    assertEquals("image/svg+xml", picture.headers().firstValue("Content-Type").orElseThrow());
    has(picture.body(), "plan A", "plan B");
  }

  @Test
  void schedulesAreComparedAsTheCommandLineDoes() throws Exception {
    String page = site.get("/compare?schedules=1f1b,%20zb-h1,zb-v&stages=4&microbatches=8").body();
    has(page, ">33<", ">1f1b<", ">zb-h1<", ">zb-v<", "peak activations");
  }

  @Test
  void whatCannotBeComparedIsASentence() throws Exception {
    refused("study=" + id(first), "studies: 1 cannot be compared; choose 2 to 4");
    refused("study=x&study=y", "studies: one has no plan; choose others");
    refused("schedules=1f1b&stages=4&microbatches=8", "schedules: 1 cannot be compared");
    refused("schedules=1f1b,%3Cb%3E&stages=4&microbatches=8", "unknown schedule");
    refused("schedules=1f1b,zb-v&stages=4&microbatches=9999", "9999 is too many to draw");
    refused("schedules=1f1b,zb-v&stages=x&microbatches=8", "stages: 'x' is no whole number");
  }

  private static void refused(String query, String sentence) throws Exception {
    HttpResponse<String> response = site.get("/compare?" + query);
    assertEquals(422, response.statusCode(), query);
    has(response.body().replace("&#39;", "'"), sentence);
    assertFalse(response.body().contains("<b>"), response.body());
  }
}
