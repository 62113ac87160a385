package dev.pipewright.server;

import dev.pipewright.app.cli.serve.ServingService;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A site on a free loopback port, and requests to it. */
final class SiteUnderTest implements AutoCloseable {
  private final ServingService.Site site;
  private final HttpClient client = HttpClient.newHttpClient();

  SiteUnderTest(Path data, Optional<String> token, Optional<String> database) {
    site = new LocalSite().start(new ServingService.Request("127.0.0.1", 0, token, database, data));
  }

  SiteUnderTest(Path data) {
    this(data, Optional.empty(), Optional.empty());
  }

  URI address() {
    return site.address();
  }

  HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(address().resolve(path));
  }

  HttpResponse<String> send(HttpRequest.Builder request) throws IOException, InterruptedException {
    return client.send(request.build(), BodyHandlers.ofString());
  }

  HttpResponse<String> get(String path) throws IOException, InterruptedException {
    return send(request(path));
  }

  /** What arrives, line by line. */
  Stream<String> lines(String path) throws IOException, InterruptedException {
    return client.send(request(path).build(), BodyHandlers.ofLines()).body();
  }

  /** A form as a browser sends it from a page of the site. */
  HttpRequest.Builder form(String path, Map<String, String> fields) {
    String body =
        fields.entrySet().stream()
            .map(field -> encoded(field.getKey()) + "=" + encoded(field.getValue()))
            .collect(Collectors.joining("&"));
    return request(path)
        .header("Content-Type", "application/x-www-form-urlencoded")
        .header("Sec-Fetch-Site", "same-origin")
        .POST(BodyPublishers.ofString(body));
  }

  HttpResponse<String> post(String path, Map<String, String> fields)
      throws IOException, InterruptedException {
    return send(form(path, fields));
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  /** Asks a study and returns its link as soon as it has an answer. */
  String study(Map<String, String> fields) throws IOException, InterruptedException {
    String link = post("/study", fields).headers().firstValue("Location").orElseThrow();
    get(link + "/events"); // ends with the study
    return link;
  }

  @Override
  public void close() {
    client.shutdownNow(); // streams of events may be open
    site.close();
  }
}
