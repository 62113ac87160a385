package dev.pipewright.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.app.cli.CommandLineProgram;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Studies of a {@code config.json} that was sent, without a browser. */
class StudyOfAFileTest {
  private static final Map<String, String> ASKED =
      Map.of("cluster", "h100:1x8", "batch", "32", "limit", "20");

  @TempDir static Path folder;
  private static SiteUnderTest site;

  @BeforeAll
  static void serve() {
    site = new SiteUnderTest(folder.resolve("data"));
  }

  @AfterAll
  static void end() {
    site.close();
  }

  private static String config(int layers) {
    return """
    {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 1024,
     "intermediate_size": 2816, "num_hidden_layers": %d, "num_attention_heads": 16,
     "num_key_value_heads": 16, "vocab_size": 32000, "max_position_embeddings": 2048}
    """
        .formatted(layers);
  }

  private static HttpResponse<String> send(Map<String, String> fields, String name, String text)
      throws Exception {
    StringBuilder body = new StringBuilder();
    String part = "--mark\r\nContent-Disposition: form-data; name=\"";
    fields.forEach((field, value) -> body.append(part + field + "\"\r\n\r\n" + value + "\r\n"));
    body.append(part + "file\"; filename=\"" + name + "\"\r\n\r\n" + text + "\r\n--mark--\r\n");
    return site.send(
        site.request("/study")
            .header("Content-Type", "multipart/form-data; boundary=mark")
            .header("Sec-Fetch-Site", "same-origin")
            .POST(BodyPublishers.ofString(body.toString())));
  }

  /** Asks a study of a file and returns its link as soon as it has an answer. */
  private static String study(String name, String text) throws Exception {
    HttpResponse<String> sent = send(ASKED, name, text);
    String link = sent.headers().firstValue("Location").orElseGet(sent::body);
    site.get(link + "/events");
    return link;
  }

  private static String timeless(String answer) {
    return answer.replaceFirst("\"planning_s\": [0-9.E-]+", "");
  }

  @Test
  void theAnswerIsThatOfTheCommandLineForTheFile() throws Exception {
    Path file = Files.writeString(folder.resolve("small.json"), config(8));
    StringWriter out = new StringWriter();
    new CommandLineProgram()
        .run(
            new PrintWriter(out),
            new PrintWriter(new StringWriter()),
            ("plan " + file + " --cluster h100:1x8 --global-batch 32 --time-limit 20 --json")
                .split(" ", -1));
    String link = study("C:\\mine\\small.json", config(8));
    String answer = site.get(link + "/answer.json").body();
    assertTrue(answer.contains("\"model\": \"small.json\""), answer);
    assertEquals(timeless(out.toString().replace(file.toString(), "small.json")), timeless(answer));
    String page = site.get(link).body();
    assertTrue(page.contains("pipewright plan small.json --cluster h100:1x8"), page);
    assertEquals(config(8), site.get(link + "/network.json").body());
  }

  @Test
  void noFileOfAStudySaysWhereItsNetworkLay() throws Exception {
    String link = study("small.json", config(8));
    Matcher files =
        Pattern.compile("href=\"(" + link + "/[a-z-]+[.][a-z]+)\"").matcher(site.get(link).body());
    int seen = 0;
    for (; files.find(); seen++) {
      String text = site.get(files.group(1)).body();
      assertFalse(text.contains("pipewright-network-"), files.group(1));
    }
    assertTrue(seen >= 5, "files: " + seen);
  }

  @Test
  void theSameNameWithOtherContentIsAnotherStudy() throws Exception {
    assertNotEquals(study("small.json", config(8)), study("small.json", config(6)));
    assertEquals(study("small.json", config(6)), study("small.json", config(6)));
  }

  @Test
  void theLinkLeadsToEverythingThatOtherStudiesHaveAfterTheServerHasEnded() throws Exception {
    String link = study("small.json", config(8));
    String other = study("small.json", config(6));
    site.close();
    site = new SiteUnderTest(folder.resolve("data"));
    String id = link.replace("/study/", "");
    String moved = site.get("/what-if/moved?study=" + id).body();
    assertTrue(
        moved.contains("A step takes as long as in the study") // within its patience, or better
            || moved.contains(" less than in the study"),
        moved);
    String compared =
        site.get("/compare?study=" + id + "&study=" + other.replace("/study/", "")).body();
    assertTrue(compared.contains("small.json"), compared);
    HttpResponse<String> exported = site.get(link + "/export?to=torch");
    assertEquals(200, exported.statusCode(), exported.body());
    assertTrue(exported.body().contains("small.json"), exported.body());
    assertFalse(exported.body().contains("pipewright-network-"), exported.body());
  }

  @Test
  void anotherQuestionTakesTheFileOfTheStudy() throws Exception {
    String link = study("small.json", config(8));
    Map<String, String> again = new HashMap<>(ASKED);
    again.put("network", link.replace("/study/", ""));
    again.put("model", "small.json");
    assertEquals(link, site.study(again));
    again.put("batch", "64");
    String answer = site.get(site.study(again) + "/answer.json").body();
    assertTrue(answer.contains("\"global_batch\": 64"), answer);
    again.put("model", "resnet-50");
    answer = site.get(site.study(again) + "/answer.json").body();
    assertTrue(answer.contains("\"model\": \"resnet-50\""), answer);
    String form = site.get("/?model=small.json&network=" + again.get("network")).body();
    assertTrue(form.contains("name=\"network\" value=\"" + again.get("network") + "\""), form);
  }

  @ParameterizedTest
  @CsvSource({
    "small.json, '{}', file: small.json",
    "small.json, 'import os', file: small.json",
    "'../../x y.json', '[', file: config.json",
    "pom.xml, '<project/>', file: config.json",
    "small.json, '{\"model_type\": \"mamba\"}', file: small.json"
  })
  void whatIsNoConfigurationIsRefused(String name, String text, String sentence) throws Exception {
    HttpResponse<String> refused = send(ASKED, name, text);
    assertEquals(422, refused.statusCode());
    assertTrue(mistake(refused).startsWith(sentence), mistake(refused));
    assertFalse(mistake(refused).contains("pipewright-network-"), mistake(refused));
  }

  @Test
  void aFileHasLimits() throws Exception {
    String large = config(8) + " ".repeat(1 << 20);
    assertTrue(mistake(send(ASKED, "small.json", large)).contains("has more than 1,048,576 bytes"));
    String larger = config(8) + " ".repeat(2 << 20);
    assertTrue(mistake(send(ASKED, "small.json", larger)).contains("bytes were sent; send less"));
  }

  @Test
  void aNameAndAFileAreRefused() throws Exception {
    Map<String, String> both = new TreeMap<>(ASKED);
    both.put("model", "bert-48");
    assertTrue(mistake(send(both, "small.json", config(8))).contains("a name and a file"));
    both.put("model", "small.json");
    assertEquals("model: small.json is a file; choose it", mistake(site.post("/study", both)));
  }

  private static String mistake(HttpResponse<String> refused) {
    return refused.body().replaceFirst("(?s).*id=\"mistake\">", "").replaceFirst("(?s)</p>.*", "");
  }
}
