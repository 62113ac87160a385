package dev.pipewright.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.app.cli.CommandLineProgram;
import dev.pipewright.formats.export.ExportCatalog;
import dev.pipewright.server.study.CommandRun;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Plans of studies as files of other frameworks, without a browser. */
class ExportTest {
  private static final Pattern FILE =
      Pattern.compile("(?s)aria-label=\"Text of ([^\"]*)\">(.*?)</pre>");
  private static final Pattern SENTENCE =
      Pattern.compile("<p class=\"(?:mistake|remark)\">(.*?)</p>");

  @TempDir static Path folder;
  private static SiteUnderTest site;
  private static String bert;
  private static String gpt;
  private static String front;

  @BeforeAll
  static void open() throws Exception {
    site = new SiteUnderTest(folder.resolve("data"));
    bert = study("bert-48", "dapple-a", "64");
    gpt = study("gpt:layers=24,hidden=2048", "dgx-a100:2x8", "256");
    front =
        site.study(
            Map.of(
                "model", "vgg-19", "cluster", "8xV100", "batch", "64", "limit", "5", "front",
                "on"));
  }

  @AfterAll
  static void close() {
    site.close();
  }

  private static String study(String model, String cluster, String batch) throws Exception {
    return site.study(Map.of("model", model, "cluster", cluster, "batch", batch, "limit", "5"));
  }

  static List<String> targets() {
    return ExportCatalog.names();
  }

  /** What the command line makes of a study's plan. */
  private record Printed(int status, List<String> sentences, Map<String, byte[]> files) {
    static Printed of(String study, String to, boolean nearest) throws Exception {
      Path own = Files.createTempDirectory(folder, "printed");
      Path plan = Files.writeString(own.resolve("plan.json"), text(study + "/plan.json"));
      List<String> words = new ArrayList<>(List.of("export", plan.toString(), "--to", to));
      if (nearest) {
        words.add("--nearest");
      }
      words.addAll(List.of("--out", own.resolve("out").toString()));
      CommandRun run = CommandRun.of(new CommandLineProgram(), () -> false, words);
      return new Printed(
          run.status(), run.remarks().lines().toList(), CommandRun.files(own.resolve("out")));
    }
  }

  private static String text(String path) throws Exception {
    HttpResponse<String> response = site.get(path);
    assertEquals(200, response.statusCode(), path);
    return response.body();
  }

  private static String unescaped(String html) {
    return html.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&#34;", "\"")
        .replace("&#39;", "'")
        .replace("&amp;", "&");
  }

  private static Map<String, String> shown(String page) {
    Map<String, String> files = new TreeMap<>();
    FILE.matcher(page)
        .results()
        .forEach(found -> files.put(unescaped(found.group(1)), unescaped(found.group(2))));
    return files;
  }

  private static List<String> sentences(String page) {
    Stream<MatchResult> all = SENTENCE.matcher(page).results();
    return all.map(each -> unescaped(each.group(1))).toList();
  }

  @ParameterizedTest
  @MethodSource("targets")
  void filesAndSentencesAreThoseOfTheCommandLine(String to) throws Exception {
    for (String study : List.of(bert, gpt)) {
      for (boolean nearest : new boolean[] {false, true}) {
        Printed printed = Printed.of(study, to, nearest);
        String more = nearest ? "&nearest=on" : "";
        HttpResponse<String> page = site.get(study + "/export?to=" + to + more);
        assertEquals(printed.status() >= CommandRun.WRONG_INPUT ? 422 : 200, page.statusCode());
        if (page.statusCode() == 200) {
          assertEquals(printed.sentences(), sentences(page.body()));
          Map<String, String> texts = new TreeMap<>();
          printed
              .files()
              .forEach((name, bytes) -> texts.put(name, new String(bytes, StandardCharsets.UTF_8)));
          assertEquals(texts, shown(page.body()));
        }
      }
    }
  }

  @Test
  void aFileIsSentToTheByteAndCannotReachTheSite() throws Exception {
    Map<String, byte[]> files = Printed.of(gpt, "torch", false).files();
    assertTrue(files.size() > 1, files.keySet().toString());
    for (Map.Entry<String, byte[]> file : files.entrySet()) {
      HttpResponse<String> sent = site.get(gpt + "/export/torch/" + file.getKey());
      assertArrayEquals(file.getValue(), sent.body().getBytes(StandardCharsets.UTF_8));
      String policy = sent.headers().allValues("Content-Security-Policy").toString();
      assertTrue(policy.matches("\\[default-src 'none'; .*sandbox.*]"), policy);
    }
  }

  @Test
  void whatATargetCannotSayLeadsToTheNearestPlan() throws Exception {
    int refused = 0;
    for (String study : List.of(bert, gpt)) {
      for (String to : targets()) {
        String page = site.get(study + "/export?to=" + to).body();
        if (page.contains("; --nearest exports it")) {
          refused++;
          assertTrue(page.contains("<button type=\"submit\" name=\"nearest\""), page);
          String nearest = text(study + "/export?to=" + to + "&nearest=on");
          String name = shown(nearest).keySet().iterator().next();
          String link = study + "/export/" + to + "/" + name;
          assertTrue(nearest.contains("href=\"" + link + "?nearest=on\""), nearest);
          assertEquals(shown(nearest).get(name), text(link + "?nearest=on"));
          sentence(422, link, "cannot say");
        } else {
          assertFalse(page.contains("name=\"nearest\""), page);
        }
      }
    }
    assertTrue(refused > 0);
  }

  @Test
  void onlyAnswersWithOnePlanHaveTheMenu() throws Exception {
    String page = text(bert);
    for (String to : targets()) {
      assertTrue(page.contains("href=\"" + bert + "/export?to=" + to + "\""), to);
    }
    assertFalse(text(front).contains("id=\"export\""));
    String history = text("/history");
    assertTrue(history.contains("href=\"" + bert + "#export\""), history);
    assertFalse(history.contains(front + "#export"), history);
  }

  @Test
  void whatThereIsNotIsASentence() throws Exception {
    sentence(404, "/study/0123456789abcdef0123/export?to=torch", "no study with a plan");
    sentence(404, front + "/export?to=torch", "no study with a plan");
    sentence(404, "/study/%3Cb%3E/export/torch/run.sh", "no study with a plan");
    sentence(404, gpt + "/export/torch/other.py", "this export has no such file");
    sentence(404, gpt + "/export/torch/..%2fplan.json", "this");
    sentence(422, bert + "/export", "to: is missing; take one of megatron, bridge");
    sentence(422, bert + "/export?to=torhc", "to: unknown 'torhc'; did you mean \"torch\"?");
    sentence(422, bert + "/export?to=%3Cb%3Eh%3C/b%3E", "to: unknown '&lt;b&gt;h&lt;/b&gt;'");
    sentence(422, bert + "/export?to=--around", "to: unknown '--around'");
    sentence(422, bert + "/export/%3Cb%3E/run.sh", "to: unknown '&lt;b&gt;'");
  }

  private static void sentence(int status, String path, String sentence) throws Exception {
    HttpResponse<String> response = site.get(path);
    assertEquals(status, response.statusCode(), path);
    String page = response.body().replace("&#39;", "'");
    assertTrue(page.contains(sentence), page);
    assertFalse(page.contains("<b>"), page);
  }

  @Test
  void nothingStaysOnTheDisk() throws Exception {
    text(bert + "/export?to=torch");
    try (Stream<Path> left = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
      assertEquals(
          0,
          left.filter(path -> path.getFileName().toString().startsWith("pipewright-export-"))
              .count());
    }
  }
}
