package dev.pipewright.server.page;

import dev.pipewright.server.web.Exchange;
import dev.pipewright.server.web.Page;
import dev.pipewright.server.web.Sessions;
import dev.pipewright.server.web.Templates;
import io.helidon.http.Status;
import io.helidon.webserver.http.HttpRules;
import java.util.Map;
import java.util.Optional;

/** Takes the token; its script takes it from the link's fragment, which no server sees. */
public final class LoginPage implements Page {
  private static final String PATH = "/login";

  private final Templates templates;
  private final Sessions sessions;

  LoginPage(Templates templates, Sessions sessions) {
    this.templates = templates;
    this.sessions = sessions;
  }

  @Override
  public Optional<Entry> entry() {
    return Optional.empty();
  }

  @Override
  public void route(HttpRules rules) {
    rules.get(PATH, (request, response) -> show(new Exchange(request, response), false));
    rules.post(PATH, (request, response) -> begin(new Exchange(request, response)));
  }

  private void show(Exchange exchange, boolean wrong) {
    Status status = wrong ? Status.UNAUTHORIZED_401 : Status.OK_200;
    exchange.html(status, templates.page("login", "Log in", "", Map.of("wrong", wrong)));
  }

  private void begin(Exchange exchange) throws InterruptedException {
    Optional<String> session = sessions.begin(exchange.form().getOrDefault("token", ""));
    if (session.isEmpty()) {
      show(exchange, true);
      return;
    }
    exchange.cookie(Sessions.COOKIE, session.get());
    exchange.see("/");
  }
}
