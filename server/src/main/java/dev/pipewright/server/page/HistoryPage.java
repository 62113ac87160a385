package dev.pipewright.server.page;

import dev.pipewright.server.store.KeptStudy;
import dev.pipewright.server.store.StudyStore;
import dev.pipewright.server.study.StudyRequest;
import dev.pipewright.server.web.Exchange;
import dev.pipewright.server.web.Page;
import dev.pipewright.server.web.Templates;
import io.helidon.http.Status;
import io.helidon.webserver.http.HttpRules;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/** All studies, the newest first. */
public final class HistoryPage implements Page {
  private static final String PATH = "/history";
  private static final int ROWS = 50;
  private static final int MOST_LETTERS = 100;
  private static final Pattern SKIPPED = Pattern.compile("[0-9]{1,7}");

  /**
   * A study in a line.
   *
   * @param hasPlan whether its answer is one plan
   */
  public record Row(String id, String title, String headline, String when, boolean hasPlan) {}

  private final Templates templates;
  private final StudyStore store;

  HistoryPage(Templates templates, StudyStore store) {
    this.templates = templates;
    this.store = store;
  }

  @Override
  public Optional<Entry> entry() {
    return Optional.of(new Entry("History", PATH));
  }

  @Override
  public void route(HttpRules rules) {
    rules.get(PATH, (request, response) -> show(new Exchange(request, response)));
  }

  private void show(Exchange exchange) {
    String asked = exchange.asked("word");
    String word = asked.substring(0, Math.min(MOST_LETTERS, asked.length()));
    String from = exchange.asked("skip");
    int skip = SKIPPED.matcher(from).matches() ? Integer.parseInt(from) : 0;
    List<StudyStore.Line> lines = store.newest(word, skip, ROWS + 1);
    List<Row> rows = lines.stream().limit(ROWS).map(HistoryPage::row).toList();
    exchange.html(
        Status.OK_200,
        templates.page(
            "history",
            "History",
            PATH,
            Map.of(
                "word",
                word,
                "rows",
                rows,
                "newer",
                skip == 0 ? "" : link(word, Math.max(0, skip - ROWS)),
                "older",
                lines.size() > ROWS ? link(word, skip + ROWS) : "")));
  }

  private static String link(String word, int skip) {
    return PATH + "?word=" + URLEncoder.encode(word, StandardCharsets.UTF_8) + "&skip=" + skip;
  }

  static Row row(KeptStudy study) {
    return row(new StudyStore.Line(study.id(), study.command(), study.created(), study.headline()));
  }

  static Row row(StudyStore.Line line) {
    Map<String, String> form = StudyRequest.form(line.command(), line.id());
    String objective = form.getOrDefault("objective", "time");
    String title =
        "%s on %s, %s samples%s"
            .formatted(
                form.getOrDefault("model", ""),
                form.getOrDefault("cluster", ""),
                form.getOrDefault("batch", ""),
                form.containsKey("front")
                    ? ", front"
                    : objective.equals("time") ? "" : ", " + StudyPage.words(objective));
    return new Row(
        line.id(),
        title,
        line.headline().isEmpty() ? "nothing fits" : line.headline(),
        Times.minutes(line.created()),
        !line.headline().isEmpty() && !form.containsKey("front"));
  }
}
