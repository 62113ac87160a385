package dev.pipewright.server.page;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.server.compare.ComparedSchedules;
import dev.pipewright.server.compare.ComparedStudies;
import dev.pipewright.server.compare.SideBySide;
import dev.pipewright.server.store.StudyStore;
import dev.pipewright.server.study.StudyRequest;
import dev.pipewright.server.study.Turns;
import dev.pipewright.server.web.Exchange;
import dev.pipewright.server.web.Page;
import dev.pipewright.server.web.Templates;
import io.helidon.http.Status;
import io.helidon.webserver.http.HttpRules;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Sets plans of studies, or schedules, one above the other: one comparison at a time. */
public final class ComparePage implements Page {
  private static final String PATH = "/compare";
  private static final int ROWS = 20; // studies to choose from
  private static final List<String> FIELDS = List.of("schedules", "stages", "microbatches");

  private final Templates templates;
  private final StudyStore store;
  private final ComparedStudies studies;
  private final Turns turns = new Turns();

  ComparePage(Templates templates, StudyStore store) {
    this.templates = templates;
    this.store = store;
    this.studies = new ComparedStudies(store);
  }

  @Override
  public Optional<Entry> entry() {
    return Optional.of(new Entry("Compare", PATH));
  }

  @Override
  public void route(HttpRules rules) {
    rules.get(PATH, (request, response) -> show(new Exchange(request, response)));
    rules.get(PATH + "/picture.svg", (request, response) -> draw(new Exchange(request, response)));
  }

  /** What was asked; empty where nothing was. */
  private Optional<SideBySide> asked(Exchange exchange) throws InterruptedException {
    List<String> ids = exchange.all("study");
    if (!ids.isEmpty()) {
      return Optional.of(turns.take(() -> studies.of(ids)));
    }
    String names = exchange.asked("schedules");
    if (names.isEmpty()) {
      return Optional.empty();
    }
    int stages = count("stages", exchange.asked("stages"), "like 4");
    int microBatches = count("micro-batches", exchange.asked("microbatches"), "like 8");
    return Optional.of(turns.take(() -> ComparedSchedules.of(names, stages, microBatches)));
  }

  private static int count(String what, String text, String example) {
    return Integer.parseInt(StudyRequest.whole(what, text, example));
  }

  private void draw(Exchange exchange) throws InterruptedException {
    SideBySide found =
        asked(exchange).orElseThrow(() -> new BadInputException("nothing is chosen; choose two"));
    String svg = turns.take(found::svg);
    exchange.file("picture.svg", svg.getBytes(StandardCharsets.UTF_8));
  }

  private void show(Exchange exchange) throws InterruptedException {
    Map<String, Object> shown = new HashMap<>();
    Status status = Status.OK_200;
    try {
      Optional<SideBySide> found = asked(exchange);
      found.ifPresent(each -> {
        each.checkSize();
        shown.put("figures", each.figures());
        shown.put("differences", each.differences());
        shown.put("picture", PATH + "/picture.svg?" + query(exchange));
      });
    } catch (BadInputException e) {
      status = Status.UNPROCESSABLE_CONTENT_422;
      shown.put("mistake", String.valueOf(e.getMessage()));
    }
    List<String> chosen = exchange.all("study");
    List<HistoryPage.Row> compared = new ArrayList<>();
    if (shown.containsKey("picture")) {
      chosen.forEach(id -> store.find(id).map(HistoryPage::row).ifPresent(compared::add));
    }
    Map<String, String> form = new HashMap<>();
    FIELDS.forEach(field -> form.put(field, exchange.asked(field)));
    shown.put("form", form);
    shown.put("chosen", chosen);
    shown.put("compared", compared);
    shown.put(
        "rows",
        store.newest("", 0, ROWS).stream()
            .map(HistoryPage::row)
            .filter(HistoryPage.Row::hasPlan)
            .toList());
    exchange.html(status, templates.page("compare", "Compare", PATH, shown));
  }

  private static String query(Exchange exchange) {
    List<String> pairs = new ArrayList<>();
    exchange.all("study").forEach(id -> pairs.add("study=" + encoded(id)));
    for (String field : FIELDS) {
      if (!exchange.asked(field).isEmpty()) {
        pairs.add(field + "=" + encoded(exchange.asked(field)));
      }
    }
    return String.join("&", pairs);
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }
}
