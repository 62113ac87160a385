package dev.pipewright.server.web;

import dev.pipewright.formats.file.BadInputException;
import io.helidon.http.HeaderNames;
import io.helidon.http.HttpException;
import io.helidon.http.Method;
import io.helidon.http.Status;
import io.helidon.webserver.http.Filter;
import io.helidon.webserver.http.FilterChain;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.lang.System.Logger;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Stands before all pages: refuses requests that another site made a browser send, and users
 * without the token, and says in each response what the browser may load.
 *
 * <p>On the loopback address the name of the host is checked, so that no name of another site that
 * leads here (DNS rebinding) can read answers. Elsewhere the session's cookie does that: browsers
 * send it to no other name.
 */
public final class Guard implements Filter {
  private static final Map<String, String> HEADERS =
      Map.of(
          "Content-Security-Policy",
          "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self';"
              + " frame-ancestors 'none'",
          "X-Content-Type-Options",
          "nosniff",
          "Referrer-Policy",
          "same-origin",
          "Cross-Origin-Opener-Policy",
          "same-origin",
          "Cross-Origin-Resource-Policy",
          "same-origin",
          "Cache-Control",
          "no-store");
  private static final Logger LOG = System.getLogger(Guard.class.getName());
  private static final Pattern LOOPBACK =
      Pattern.compile("(localhost|127[.][0-9]+[.][0-9]+[.][0-9]+|\\[::1\\])(:[0-9]+)?");
  private static final Set<String> WITHOUT_TOKEN =
      Set.of(
          "/login",
          "/assets/report.css",
          "/assets/site.css",
          "/assets/login.js",
          "/assets/icon.svg",
          "/favicon.ico");

  private final boolean loopback;
  private final Sessions sessions;
  private final Templates templates;

  public Guard(boolean loopback, Sessions sessions, Templates templates) {
    this.loopback = loopback;
    this.sessions = sessions;
    this.templates = templates;
  }

  @Override
  public void filter(FilterChain chain, RoutingRequest request, RoutingResponse response) {
    Exchange exchange = new Exchange(request, response);
    HEADERS.forEach((name, value) -> response.header(HeaderNames.create(name), value));
    String host = exchange.header("Host").orElse("");
    if (loopback && !LOOPBACK.matcher(host).matches()) {
      refuse(
          exchange,
          Status.MISDIRECTED_REQUEST_421,
          "this site has no such name; open it as localhost");
      return;
    }
    Method method = request.prologue().method();
    boolean reads = method.equals(Method.GET) || method.equals(Method.HEAD);
    if (!reads && isForeign(exchange, host)) {
      refuse(
          exchange,
          Status.FORBIDDEN_403,
          "another site sent this; send it from a page of this site");
      return;
    }
    try {
      String path = request.path().path();
      if (!WITHOUT_TOKEN.contains(path) && !sessions.admits(exchange)) {
        if (reads && exchange.header("Accept").orElse("").contains("text/html")) {
          exchange.see("/login");
        } else {
          refuse(exchange, Status.UNAUTHORIZED_401, "the token is missing; give it at /login");
        }
        return;
      }
      chain.proceed();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Words what a page could not do: a user's mistake in a sentence, the rest in the log alone. */
  public void fail(ServerRequest request, ServerResponse response, Throwable failure) {
    Exchange exchange = new Exchange(request, response);
    if (failure instanceof BadInputException) {
      refuse(exchange, Status.UNPROCESSABLE_CONTENT_422, String.valueOf(failure.getMessage()));
      return;
    }
    if (failure instanceof HttpException refused && refused.status().code() < 500) {
      refuse(exchange, refused.status(), "this site has no such page; begin with its first one");
      return;
    }
    LOG.log(Logger.Level.ERROR, "a page failed: " + request.path().path(), failure);
    refuse(
        exchange,
        Status.INTERNAL_SERVER_ERROR_500,
        "this failed unexpectedly; the server's log says why");
  }

  /** Whether a browser says that another site made it send this. */
  private static boolean isForeign(Exchange exchange, String host) {
    Optional<String> site = exchange.header("Sec-Fetch-Site");
    if (site.isPresent()) {
      return !site.get().equals("same-origin") && !site.get().equals("none");
    }
    Optional<String> origin = exchange.header("Origin");
    return origin.isPresent() && !origin.get().replaceFirst("^https?://", "").equals(host);
  }

  private void refuse(Exchange exchange, Status status, String sentence) {
    exchange.html(
        status, templates.page("refusal", "Not possible", "", Map.of("sentence", sentence)));
  }
}
