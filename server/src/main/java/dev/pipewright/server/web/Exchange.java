package dev.pipewright.server.web;

import dev.pipewright.formats.file.BadInputException;
import io.helidon.http.HeaderNames;
import io.helidon.http.Status;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** A request and its response, as pages need them. */
public record Exchange(ServerRequest request, ServerResponse response) {
  private static final int MOST_FORM = 64 << 10; // bytes
  private static final int MOST_SECONDS = 20; // to send a body in
  private static final String SANDBOX = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

  /** A part of the path. */
  public String part(String name) {
    return request.path().pathParameters().get(name);
  }

  /** A parameter after the question mark; empty where there is none. */
  public String asked(String name) {
    return request.query().first(name).asOptional().orElse("").strip();
  }

  /** All parameters of a name after the question mark. */
  public List<String> all(String name) {
    return request.query().contains(name) ? request.query().all(name) : List.of();
  }

  /** A header; empty where there is none. */
  public Optional<String> header(String name) {
    return request.headers().first(HeaderNames.create(name));
  }

  /** The form that was sent; throws {@link BadInputException} where it is too large. */
  public Map<String, String> form() {
    return Form.of(body(MOST_FORM));
  }

  /** The form with a file that was sent; throws {@link BadInputException} where it is too large. */
  public Multipart multipart(int most) {
    return Multipart.of(header("Content-Type").orElse(""), body(most));
  }

  /** What was sent; throws {@link BadInputException} where it is too large or too slow. */
  public byte[] body(int most) {
    if (!request.content().hasEntity()) {
      return new byte[0];
    }
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(MOST_SECONDS);
    try (InputStream in = request.content().inputStream()) {
      byte[] bytes = new byte[Math.min(most, 1 << 16)];
      int size = 0;
      for (int read = in.read(bytes); read >= 0; read = in.read(bytes, size, bytes.length - size)) {
        size += read;
        if (System.nanoTime() > end) {
          throw new BadInputException(
              "it took more than %d s to send; send less".formatted(MOST_SECONDS));
        }
        if (size == bytes.length) {
          if (size >= most) {
            throw new BadInputException("more than %,d bytes were sent; send less".formatted(most));
          }
          bytes = Arrays.copyOf(bytes, Math.min(most, 2 * size));
        }
      }
      return Arrays.copyOf(bytes, size);
    } catch (IOException e) {
      throw new BadInputException("what was sent ended early; send it anew");
    }
  }

  public void html(Status status, String page) {
    response.status(status);
    response.header(HeaderNames.CONTENT_TYPE, "text/html; charset=utf-8");
    response.send(page.getBytes(StandardCharsets.UTF_8));
  }

  public void json(String text) {
    response.header(HeaderNames.CONTENT_TYPE, "application/json; charset=utf-8");
    response.send(text.getBytes(StandardCharsets.UTF_8));
  }

  /** A file that stands for itself: what scripts it has cannot reach the site. */
  public void file(String name, byte[] content) {
    String kind =
        name.endsWith(".svg")
            ? "image/svg+xml"
            : name.endsWith(".html")
                ? "text/html; charset=utf-8"
                : name.endsWith(".json")
                    ? "application/json; charset=utf-8"
                    : "text/plain; charset=utf-8";
    boolean page = name.endsWith(".html");
    response.header(
        HeaderNames.create("Content-Security-Policy"),
        page ? SANDBOX + " allow-scripts; script-src 'unsafe-inline'; img-src data:" : SANDBOX);
    response.header(HeaderNames.CONTENT_TYPE, kind);
    response.send(content);
  }

  /** Sends the browser to another page, which it asks for with GET. */
  public void see(String path) {
    response.status(Status.SEE_OTHER_303);
    response.header(HeaderNames.LOCATION, path);
    response.send();
  }

  /** Gives the browser a cookie that no script and no other site's request can use. */
  public void cookie(String name, String value) {
    response.header(
        HeaderNames.SET_COOKIE, name + "=" + value + "; Path=/; HttpOnly; SameSite=Strict");
  }

  /** A stream of events; the caller closes it. */
  public OutputStream events() {
    response.header(HeaderNames.CONTENT_TYPE, "text/event-stream; charset=utf-8");
    response.header(HeaderNames.CACHE_CONTROL, "no-store");
    return response.outputStream();
  }
}
