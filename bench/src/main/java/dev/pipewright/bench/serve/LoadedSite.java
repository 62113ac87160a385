package dev.pipewright.bench.serve;

import dev.pipewright.app.cli.serve.ServingService;
import dev.pipewright.formats.file.BadInputException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The site of {@code serve} on a free port of the loopback address, with a few studies. */
final class LoadedSite implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofMinutes(1); // for a response
  private static final String SECONDS = "5"; // of a search

  private final Path data;
  private final ServingService.Site site;
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final List<String> studies = new ArrayList<>();

  private LoadedSite(ServingService service) throws IOException {
    data = Files.createTempDirectory("pipewright-serve-load-");
    site =
        service.start(
            new ServingService.Request("127.0.0.1", 0, Optional.empty(), Optional.empty(), data));
  }

  /** Starts the site and answers the studies that requests are for. */
  static LoadedSite open() throws IOException, InterruptedException {
    ServingService service =
        ServiceLoader.load(ServingService.class)
            .findFirst()
            .orElseThrow(() ->
                new BadInputException(
                    "serve-load: the web server is not on the class path; in a checkout `mvn"
                        + " --batch-mode -DskipTests package` builds it"));
    LoadedSite opened = new LoadedSite(service);
    try {
      opened.prepare("bert-48", "dapple-a", 64);
      opened.prepare("gpt:layers=24,hidden=2048", "dgx-a100:2x8", 256);
      opened.prepare("resnet-50", "8xV100", 64);
      opened.prepare("vgg-19", "8xV100", 128);
      return opened;
    } catch (IOException | InterruptedException | RuntimeException e) {
      opened.close();
      throw e;
    }
  }

  private void prepare(String model, String cluster, int batch)
      throws IOException, InterruptedException {
    HttpResponse<byte[]> asked =
        client.send(question(model, cluster, batch), BodyHandlers.ofByteArray());
    String link = asked.headers().firstValue("Location").orElseThrow();
    awaitAnswer(link);
    studies.add(link);
  }

  /** Waits until a study has ended; says whether it has an answer. */
  boolean awaitAnswer(String link) throws IOException, InterruptedException {
    client.send(get(link + "/events"), BodyHandlers.discarding()); // ends with the study
    return client.send(get(link + "/answer.json"), BodyHandlers.discarding()).statusCode() == 200;
  }

  /** The link of one of the prepared studies. */
  String study(int turn) {
    return studies.get(turn % studies.size());
  }

  HttpRequest get(String path) {
    return HttpRequest.newBuilder(site.address().resolve(path)).timeout(PATIENCE).build();
  }

  /** A form as a browser sends it from a page of the site. */
  HttpRequest post(String path, String type, String body) {
    return HttpRequest.newBuilder(site.address().resolve(path))
        .timeout(PATIENCE)
        .header("Content-Type", type)
        .header("Sec-Fetch-Site", "same-origin")
        .POST(BodyPublishers.ofString(body))
        .build();
  }

  HttpRequest question(String model, String cluster, int batch) {
    Map<String, String> fields =
        Map.of(
            "model", model,
            "cluster", cluster,
            "batch", Integer.toString(batch),
            "limit", SECONDS);
    return post(
        "/study",
        "application/x-www-form-urlencoded",
        fields.entrySet().stream()
            .map(field ->
                field.getKey() + "=" + URLEncoder.encode(field.getValue(), StandardCharsets.UTF_8))
            .collect(Collectors.joining("&")));
  }

  /** Sends a request without waiting for its response. */
  CompletableFuture<HttpResponse<byte[]>> send(HttpRequest request) {
    return client.sendAsync(request, BodyHandlers.ofByteArray());
  }

  @Override
  public void close() {
    client.shutdownNow();
    site.close();
    try (Stream<Path> files = Files.walk(data)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
