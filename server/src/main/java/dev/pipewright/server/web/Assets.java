package dev.pipewright.server.web;

import dev.pipewright.app.report.page.HtmlPage;
import io.helidon.http.HeaderNames;
import io.helidon.http.Status;
import io.helidon.webserver.http.HttpRules;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

/**
 * Scripts, style sheets and charts' libraries, which lie in the program. {@code report.css} is that
 * of reports, so that pages and reports look alike.
 */
public final class Assets implements Page {
  private static final Pattern NAME =
      Pattern.compile("[A-Za-z0-9-]+([.][A-Za-z0-9-]+)*[.](js|css|svg)");
  private static final Map<String, String> KINDS =
      Map.of(
          "js", "text/javascript; charset=utf-8",
          "css", "text/css; charset=utf-8",
          "svg", "image/svg+xml");

  private final Map<String, Optional<byte[]>> read = new ConcurrentHashMap<>();

  @Override
  public Optional<Entry> entry() {
    return Optional.empty();
  }

  @Override
  public void route(HttpRules rules) {
    rules.get("/assets/{name}", (request, response) -> send(new Exchange(request, response)));
    rules.get(
        "/favicon.ico",
        (request, response) -> new Exchange(request, response).see("/assets/icon.svg"));
  }

  private void send(Exchange exchange) {
    String name = exchange.part("name");
    Optional<byte[]> content =
        NAME.matcher(name).matches() ? read.computeIfAbsent(name, Assets::read) : Optional.empty();
    if (content.isEmpty()) {
      exchange.response().status(Status.NOT_FOUND_404).send();
      return;
    }
    String kind = KINDS.getOrDefault(name.substring(name.lastIndexOf('.') + 1), "text/plain");
    exchange.response().header(HeaderNames.CONTENT_TYPE, kind);
    exchange.response().header(HeaderNames.CACHE_CONTROL, "private, max-age=3600");
    exchange.response().send(content.get());
  }

  private static Optional<byte[]> read(String name) {
    if (name.equals("report.css")) {
      return Optional.of(HtmlPage.resource(name).getBytes(StandardCharsets.UTF_8));
    }
    return resource("assets/" + name).or(() -> resource("lib/" + name));
  }

  private static Optional<byte[]> resource(String path) {
    try (InputStream in = Assets.class.getResourceAsStream(path)) {
      return in == null ? Optional.empty() : Optional.of(in.readAllBytes());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
