package dev.pipewright.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.app.cli.CommandLineProgram;
import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.server.study.Members;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Studies from the question to the answer, without a browser. */
class StudyTest {
  private static final Map<String, String> SMALL =
      Map.of("model", "resnet-50", "cluster", "8xV100", "batch", "64", "limit", "30");

  @TempDir static Path data;
  private static SiteUnderTest site;

  @BeforeAll
  static void serve() {
    site = new SiteUnderTest(data);
  }

  @AfterAll
  static void end() {
    site.close();
  }

  private static String commandLine(String... args) {
    StringWriter out = new StringWriter();
    new CommandLineProgram().run(new PrintWriter(out), new PrintWriter(new StringWriter()), args);
    return out.toString();
  }

  /** Only the time of the search differs from run to run. */
  private static String timeless(String answer) {
    String text = answer.replaceFirst("\"planning_s\": [0-9.E-]+", "");
    assertNotEquals(answer, text);
    return text;
  }

  @Test
  void anAnswerIsThatOfTheCommandLine() throws Exception {
    String link = site.study(SMALL);
    String command = "plan resnet-50 --cluster 8xV100 --global-batch 64 --time-limit 30 --json";
    assertEquals(
        timeless(commandLine(command.split(" ", -1))),
        timeless(site.get(link + "/answer.json").body()));
    assertTrue(site.get(link).body().contains("pipewright " + command));
  }

  @Test
  void tokensOfADeviceAndDegreesOfPlansAreShown() throws Exception {
    Map<String, String> fields =
        Map.of("model", "gpt-2", "cluster", "8xV100", "batch", "32", "limit", "20");
    String link = site.study(fields);
    Members answer = Members.of(site.get(link + "/answer.json").body());
    int devices =
        answer.member("plan").list("stages").stream()
            .mapToInt(stage -> new Members(stage.members()).list("devices").size())
            .sum();
    String page = site.get(link).body();
    String rate = Numbers.rate(answer.number("tokens_per_s") / devices) + " on each device; ";
    assertTrue(page.contains(rate), rate + page);
    String heads = page.replaceAll("(?s)\\s*</?t[hr][^>]*>\\s*", " ").replaceAll(" +", " ");
    assertTrue(heads.contains(" schedule stages data tensor micro-batches "), heads);
  }

  @Test
  void theSameQuestionHasTheSameLinkAndIsAnsweredOnce() throws Exception {
    String link = site.study(SMALL);
    String first = site.get(link + "/answer.json").body();
    assertEquals(link, site.study(SMALL));
    assertEquals(first, site.get(link + "/answer.json").body(), "with the time of its search");
  }

  @Test
  void theFilesOfTheCommandCannotReachTheSite() throws Exception {
    String link = site.study(SMALL);
    for (String file : new String[] {"timeline.svg", "report.html", "plan.json"}) {
      HttpResponse<String> response = site.get(link + "/" + file);
      assertEquals(200, response.statusCode(), file);
      assertTrue(
          response
              .headers()
              .allValues("Content-Security-Policy")
              .toString()
              .matches("\\[default-src 'none'; .*sandbox.*]"),
          file);
    }
    assertEquals(404, site.get(link + "/other.json").statusCode());
    assertEquals(404, site.get(link + "/..%2f..%2fetc%2fpasswd").statusCode());
  }

  @ParameterizedTest
  @CsvSource(
      textBlock =
          """
          model,   pom.xml,            no network 'pom.xml'
          model,   /etc/passwd,        this is no name of a network
          model,   --sweep=x,          this is no name of a network
          model,   bart-48,            no network 'bart-48'
          model,   '',                 model: is missing
          cluster, cluster.yaml,       no cluster 'cluster.yaml'
          cluster, h100:9999999x8,     h100
          batch,   0,                  is no whole number above 0
          batch,   -64,                is no whole number above 0
          limit,   601,                at most 600 s
          objective, p95,              is none of time
          price,   free,               is no price
          """)
  void aMistakeIsASentenceAboveTheForm(String field, String value, String sentence)
      throws Exception {
    Map<String, String> fields = new TreeMap<>(SMALL);
    fields.put(field, value);
    HttpResponse<String> response = site.post("/study", fields);
    assertEquals(422, response.statusCode());
    String mistake =
        response.body().replaceFirst("(?s).*id=\"mistake\">", "").replaceFirst("(?s)</p>.*", "");
    assertTrue(mistake.contains(sentence), mistake);
  }

  @Test
  void whatIsAskedIsShownEscaped() throws Exception {
    Map<String, String> fields = new TreeMap<>(SMALL);
    fields.put("model", "\"><script>alert(1)</script>");
    String page = site.post("/study", fields).body();
    assertFalse(page.contains("<script>alert"), page);
    assertTrue(page.contains("&lt;script>alert(1)"), page);
    String history = site.get("/history?word=%22%3E%3Cscript%3Ealert(1)").body();
    assertFalse(history.contains("<script>alert"), history);
  }

  @Test
  void aSearchIsStoppedWithTheBestPlanSoFar() throws Exception {
    Map<String, String> fields =
        Map.of("model", "llama3-70b", "cluster", "h100:16x8", "batch", "512", "limit", "600");
    String link = site.post("/study", fields).headers().firstValue("Location").orElseThrow();
    assertTrue(site.get(link).body().contains("Stop with the best plan so far"));
    assertTrue(
        site.lines(link + "/events").anyMatch(line -> line.startsWith("data: Planning for")));
    site.post(link + "/cancel", Map.of());
    site.get(link + "/events");
    String page = site.get(link).body();
    assertTrue(page.contains("the search was ended early") || page.contains("nothing fits"), page);
  }

  @Test
  void theHistoryHasEachStudyAndFindsItByAWord() throws Exception {
    String link = site.study(SMALL);
    assertTrue(site.get("/history").body().contains("href=\"" + link + "\""));
    assertTrue(site.get("/history?word=8xV1").body().contains(link));
    assertFalse(site.get("/history?word=8_V1").body().contains(link), "_ is no wildcard");
  }

  @Test
  void aStudyOutlivesTheServer(@TempDir Path own) throws Exception {
    String link;
    String answer;
    try (SiteUnderTest before = new SiteUnderTest(own)) {
      link = before.study(SMALL);
      answer = before.get(link + "/answer.json").body();
    }
    try (SiteUnderTest after = new SiteUnderTest(own)) {
      assertEquals(answer, after.get(link + "/answer.json").body());
    }
  }
}
