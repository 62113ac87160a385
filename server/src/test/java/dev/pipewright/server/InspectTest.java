package dev.pipewright.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files that are inspected, without a browser. */
class InspectTest {
  private static final String CONFIG =
      """
      {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 1024,
       "intermediate_size": 2816, "num_hidden_layers": 8, "num_attention_heads": 16,
       "num_key_value_heads": 16, "vocab_size": 32000, "max_position_embeddings": 2048}
      """;
  private static final String SCHEDULE = "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n";
  private static final String HOSTILE = "<script>alert(1)</script> ' $(id).csv";

  @TempDir static Path folder;
  private static SiteUnderTest site;

  @BeforeAll
  static void open() {
    site = new SiteUnderTest(folder.resolve("data"));
  }

  @AfterAll
  static void close() {
    site.close();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static HttpRequest.Builder upload(HttpRequest.BodyPublisher body) {
    return site.request("/inspect")
        .header("Content-Type", "multipart/form-data; boundary=mark")
        .header("Sec-Fetch-Site", "same-origin")
        .POST(body);
  }

  private static byte[] form(String disposition, byte[] content) throws IOException {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    body.write(bytes("--mark\r\nContent-Disposition: form-data; " + disposition + "\r\n\r\n"));
    body.write(content);
    body.write(bytes("\r\n--mark--\r\n"));
    return body.toByteArray();
  }

  /** The page that a file's upload leads to, or the refusal. */
  private static String page(String name, byte[] content) throws Exception {
    byte[] body = form("name=\"file\"; filename=\"" + name + "\"", content);
    HttpResponse<String> sent = site.send(upload(BodyPublishers.ofByteArray(body)));
    String link = sent.headers().firstValue("Location").orElse("");
    return link.isEmpty() ? sent.body() : site.get(link).body();
  }

  private static void has(String page, String... all) {
    for (String each : all) {
      assertTrue(page.contains(each), () -> each + " is not in " + page);
    }
  }

  @Test
  void aTransformerIsNamedWithItsNextCommand() throws Exception {
    has(
        page("config.json", bytes(CONFIG)),
        "a transformer, valid",
        "config: Hugging Face config (llama)",
        "8 × attention of 16 heads",
        "pipewright predict config.json --cluster h100:8 --global-batch 64");
  }

  @Test
  void aScheduleIsCheckedAndDrawn() throws Exception {
    String page = page("mine.csv", bytes(SCHEDULE));
    has(page, "a schedule, valid", "can run: 2 ranks", "pipewright simulate mine.csv");
    String picture = page.replaceFirst("(?s).*<img src=\"([^\"]*)\".*", "$1");
    HttpResponse<String> image = site.get(picture);
    assertEquals("image/svg+xml", image.headers().firstValue("Content-Type").orElseThrow());
    assertTrue(image.body().contains("2 ranks"));
  }

  @Test
  void aScheduleThatCannotRunSaysWhere() throws Exception {
    String page = page("mine.csv", bytes("0F0,0B0\n1B0,1F0\n"));
    has(page, "a schedule, not valid", "mine.csv:2");
    assertFalse(page.contains("<img"));
  }

  @Test
  void aPlanIsCheckedAndDrawnUnlessItNamesAFileOfTheServer() throws Exception {
    String link =
        site.study(
            java.util.Map.of("model", "vgg-19", "cluster", "8xV100", "batch", "64", "limit", "5"));
    String plan = site.get(link + "/plan.json").body();
    has(page("plan.json", bytes(plan)), "a plan, valid", "timeline.svg");
    Path secret = Files.writeString(folder.resolve("secret.json"), CONFIG);
    String page = page("plan.json", bytes(plan.replace("\"vgg-19\"", "\"" + secret + "\"")));
    has(page, "not valid", "is no name of the zoo, and files are not read from here");
    assertFalse(page.contains("What it says"));
    String elsewhere = plan.replace("\"8xV100\"", "\"" + secret + "\"");
    has(page("plan.json", bytes(elsewhere)), "not valid", "no cluster");
  }

  @Test
  void measuredCollectivesAndClustersAreFound() throws Exception {
    String timings =
        "collective,devices,bytes,seconds\nall_reduce,4,1e6,1e-3\nall_reduce,4,2e6,2e-3\n";
    has(page("timings.csv", bytes(timings)), "measured collectives, valid", "--cluster h100:2x8");
    has(page("c.yaml", bytes("levels: 3\n")), "a cluster, not valid", "c.yaml");
  }

  @Test
  void aTraceIsReadUpToItsLimit() throws Exception {
    has(page("t.json", bytes("{\"traceEvents\": []}")), "a trace of PyTorch's profiler");
    ByteArrayOutputStream small = new ByteArrayOutputStream();
    try (GZIPOutputStream out = new GZIPOutputStream(small)) {
      out.write(bytes("{\"traceEvents\": ["));
      byte[] blanks = new byte[1 << 20];
      java.util.Arrays.fill(blanks, (byte) ' ');
      for (int i = 0; i < 1024; i++) {
        out.write(blanks);
      }
      out.write(bytes("]}"));
    }
    has(
        page("bomb.json.gz", small.toByteArray()),
        "not read, not valid",
        "bomb.json.gz: unpacks to more than 134,217,728 bytes; read it with the command line");
  }

  @Test
  void whatNestsTooDeepIsRefused() throws Exception {
    String deep = "{\"a\":" + "[".repeat(10_000) + "]".repeat(10_000) + "}";
    has(page("deep.json", bytes(deep)), "not valid", "nest more than 500 deep");
    String yaml = "a: &a [x, x]\nb: &b [*a, *a]\nlevels: *b\n";
    has(page("bomb.yaml", bytes(yaml)), "not valid", "the alias *a is not supported");
  }

  @Test
  void aNameIsShownButNeverTrusted() throws Exception {
    String page = page(HOSTILE, bytes(SCHEDULE));
    has(page, "script&gt; ' $(id).csv", "pipewright simulate './script&gt; '\\'' $(id).csv' ");
    assertFalse(page.contains("<script>"), page);
    String drawn = page("<b>mine.csv", bytes(SCHEDULE));
    String picture = site.get(drawn.replaceFirst("(?s).*<img src=\"([^\"]*)\".*", "$1")).body();
    has(picture, "&lt;b&gt;mine.csv: 2 ranks");
    assertFalse(picture.contains("<b>"), picture);
    has(page("../../etc/passwd", bytes(SCHEDULE)), "<h1 class=\"name\">passwd</h1>");
    has(page("-h", bytes(SCHEDULE)), "pipewright simulate './-h'");
    String inside = page("a.json", bytes("{\"<script>alert(1)</script>\": 1}"));
    assertFalse(inside.contains("<script>"), inside);
    has(page("a.png", new byte[] {1, 0, 2}), "a.png: is nothing that is read here");
  }

  @Test
  void moreThanTheLimitIsRefusedWhetherItsLengthIsSaidOrNot() throws Exception {
    byte[] large = form("name=\"file\"; filename=\"a.json\"", new byte[20 << 20]);
    HttpResponse<String> said = site.send(upload(BodyPublishers.ofByteArray(large)));
    assertEquals(422, said.statusCode());
    has(said.body(), "more than 20,971,520 bytes were sent; send less");
    HttpResponse<String> unsaid =
        site.send(upload(BodyPublishers.ofInputStream(() -> chunks(large))));
    assertEquals(422, unsaid.statusCode());
  }

  private static InputStream chunks(byte[] all) {
    return new SequenceInputStream(new ByteArrayInputStream(all), InputStream.nullInputStream());
  }

  @Test
  void aLayoutIsCheckedByMegatronsRules() throws Exception {
    String layout = form("layout", "Et*3|t*3L");
    has(layout, "a layout of Megatron-LM, valid", "6 decoder layers");
    has(form("layout", "Et*3|<b>"), "not valid", "&lt;b");
    has(form("layout", ""), "there is neither a file nor a layout; give one of them");
  }

  private static String form(String name, String value) throws Exception {
    String body =
        "--mark\r\nContent-Disposition: form-data; name=\"%s\"\r\n\r\n%s\r\n".formatted(name, value)
            + "--mark\r\nContent-Disposition: form-data; name=\"pipeline\"\r\n\r\n2\r\n--mark--\r\n";
    HttpResponse<String> sent = site.send(upload(BodyPublishers.ofString(body)));
    String link = sent.headers().firstValue("Location").orElse("");
    return link.isEmpty() ? sent.body() : site.get(link).body();
  }

  @Test
  void nothingStaysOnTheDisk() throws Exception {
    page("mine.csv", bytes(SCHEDULE));
    page("bad.json", bytes("{"));
    try (Stream<Path> left = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
      assertEquals(
          0,
          left.filter(path -> path.getFileName().toString().startsWith("pipewright-inspect-"))
              .count());
    }
  }
}
