package dev.pipewright.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.app.cli.serve.ServingService;
import dev.pipewright.formats.file.BadInputException;
import java.io.OutputStream;
import java.net.Socket;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Who may ask the site. */
class GuardTest {
  private static final String TOKEN = "a-secret-of-32-letters-and-digits";

  @TempDir Path data;

  /** The status of a request as it stands. */
  private static int raw(SiteUnderTest site, String request) throws Exception {
    try (Socket socket = new Socket(site.address().getHost(), site.address().getPort());
        OutputStream out = socket.getOutputStream()) {
      out.write(request.getBytes(StandardCharsets.UTF_8));
      out.flush();
      byte[] head = socket.getInputStream().readNBytes("HTTP/1.1 200".length());
      return Integer.parseInt(new String(head, StandardCharsets.UTF_8).substring(9));
    }
  }

  @Test
  void aNameThatAnotherSiteMadeLeadHereIsRefused() throws Exception {
    try (SiteUnderTest site = new SiteUnderTest(data)) {
      String end = "\r\nConnection: close\r\n\r\n";
      assertEquals(421, raw(site, "GET / HTTP/1.1\r\nHost: evil.example:80" + end));
      assertEquals(421, raw(site, "GET / HTTP/1.1\r\nHost: localhost.evil.example" + end));
      assertEquals(200, raw(site, "GET / HTTP/1.1\r\nHost: localhost:8400" + end));
      assertEquals(200, raw(site, "GET / HTTP/1.1\r\nHost: [::1]:8400" + end));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "Sec-Fetch-Site, cross-site",
    "Sec-Fetch-Site, same-site",
    "Origin, https://evil.example",
    "Origin, null",
    "Origin, http://127.0.0.1:1"
  })
  void whatAnotherSiteMadeABrowserSendIsRefused(String header, String value) throws Exception {
    try (SiteUnderTest site = new SiteUnderTest(data)) {
      HttpResponse<String> response =
          site.send(site.request("/study").header(header, value).POST(BodyPublishers.noBody()));
      assertEquals(403, response.statusCode());
    }
  }

  @Test
  void everyResponseSaysWhatTheBrowserMayLoad() throws Exception {
    try (SiteUnderTest site = new SiteUnderTest(data)) {
      for (String path :
          new String[] {"/", "/history", "/study/none", "/assets/none.js", "/none"}) {
        String policy =
            site.get(path).headers().firstValue("Content-Security-Policy").orElse("none");
        assertTrue(policy.startsWith("default-src 'self'; "), path + ": " + policy);
        assertFalse(policy.contains("unsafe"), path + ": " + policy);
      }
      assertEquals(404, site.get("/none").statusCode());
    }
  }

  @Test
  void withATokenNothingIsShownToOthers() throws Exception {
    try (SiteUnderTest site = new SiteUnderTest(data, Optional.of(TOKEN), Optional.empty())) {
      for (String path : new String[] {"/history", "/study/x", "/study/x/answer.json"}) {
        assertEquals(401, site.get(path).statusCode(), path);
      }
      HttpResponse<String> page = site.send(site.request("/").header("Accept", "text/html"));
      assertEquals("/login", page.headers().firstValue("Location").orElseThrow());
      assertEquals(401, site.post("/login", Map.of("token", TOKEN + "x")).statusCode());
      HttpResponse<String> in = site.post("/login", Map.of("token", TOKEN));
      String cookie = in.headers().firstValue("Set-Cookie").orElseThrow();
      assertTrue(cookie.endsWith("; Path=/; HttpOnly; SameSite=Strict"), cookie);
      assertFalse(cookie.contains(TOKEN), cookie);
      String pair = cookie.split(";", 2)[0];
      assertEquals(200, site.send(site.request("/history").header("Cookie", pair)).statusCode());
      assertEquals(
          401, site.send(site.request("/history").header("Cookie", pair + "x")).statusCode());
      assertEquals(
          200,
          site.send(site.request("/history").header("Authorization", "Bearer " + TOKEN))
              .statusCode());
    }
  }

  @Test
  void aFormThatIsTooLargeIsRefused() throws Exception {
    try (SiteUnderTest site = new SiteUnderTest(data)) {
      HttpResponse<String> response =
          site.post("/study", Map.of("model", "x".repeat(70_000), "batch", "1"));
      assertEquals(422, response.statusCode());
      assertTrue(response.body().contains("more than 65,536 bytes were sent; send less"));
    }
  }

  @Test
  void aPortInUseIsASentence() {
    try (SiteUnderTest site = new SiteUnderTest(data)) {
      int port = site.address().getPort();
      var taken =
          new ServingService.Request(
              "127.0.0.1", port, Optional.empty(), Optional.empty(), data.resolve("other"));
      assertEquals(
          "--port: %d of 127.0.0.1 is in use or cannot be had; give another, or 0 for any free one"
              .formatted(port),
          assertThrows(BadInputException.class, () -> new LocalSite().start(taken)).getMessage());
    }
  }
}
