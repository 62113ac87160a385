package dev.pipewright.server.page;

import dev.pipewright.formats.export.ExportCatalog;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.server.export.Exported;
import dev.pipewright.server.export.Exporter;
import dev.pipewright.server.store.StudyStore;
import dev.pipewright.server.study.UploadedNetwork;
import dev.pipewright.server.web.Exchange;
import dev.pipewright.server.web.Page;
import dev.pipewright.server.web.Templates;
import io.helidon.http.Status;
import io.helidon.webserver.http.HttpRules;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The plan of a study as files of another framework or a launcher. */
public final class ExportPage implements Page {
  private static final String PLAN = "plan.json";
  private static final String PATH = "/study/{id}/export";

  private final Templates templates;
  private final StudyStore store;
  private final Exporter exporter = new Exporter();

  ExportPage(Templates templates, StudyStore store) {
    this.templates = templates;
    this.store = store;
  }

  @Override
  public Optional<Entry> entry() {
    return Optional.empty();
  }

  @Override
  public void route(HttpRules rules) {
    rules.get(PATH, (request, response) -> show(new Exchange(request, response)));
    rules.get(PATH + "/{to}/{file}", (request, response) -> file(new Exchange(request, response)));
  }

  private void show(Exchange exchange) throws InterruptedException {
    String id = exchange.part("id");
    Optional<byte[]> plan = store.file(id, PLAN);
    if (plan.isEmpty()) {
      missing(exchange, "no study with a plan has this link; History lists all studies");
      return;
    }
    String to = exchange.asked("to");
    boolean nearest = isNearest(exchange);
    Exported exported = export(exchange, plan.get(), to);
    exchange.html(
        Status.OK_200,
        templates.page(
            "export",
            "Export to " + to,
            "",
            Map.of(
                "id",
                id,
                "study",
                store.find(id).map(study -> HistoryPage.row(study).title()).orElse(""),
                "to",
                to,
                "nearest",
                nearest,
                "search",
                search(id, to),
                "exported",
                exported,
                "targets",
                ExportCatalog.all())));
  }

  private void file(Exchange exchange) throws InterruptedException {
    Optional<byte[]> plan = store.file(exchange.part("id"), PLAN);
    if (plan.isEmpty()) {
      missing(exchange, "no study with a plan has this link; History lists all studies");
      return;
    }
    Exported exported = export(exchange, plan.get(), exchange.part("to"));
    if (exported.files().isEmpty()) {
      throw new BadInputException(String.join("; ", exported.sentences()));
    }
    String name = exchange.part("file");
    Optional<byte[]> content = exported.file(name);
    if (content.isEmpty()) {
      missing(exchange, "this export has no such file; take one of its page");
    } else {
      exchange.file(name, content.get());
    }
  }

  private Exported export(Exchange exchange, byte[] plan, String to) throws InterruptedException {
    return exporter.export(
        plan, UploadedNetwork.kept(store, exchange.part("id")), to, isNearest(exchange));
  }

  /** The command that searches within what a target can say. */
  private String search(String id, String to) {
    List<String> words = new ArrayList<>(List.of("pipewright"));
    store.find(id).ifPresent(study -> words.addAll(study.command()));
    words.remove("--json");
    words.addAll(List.of("--export", to, "--out", "launch"));
    return String.join(" ", words);
  }

  private static boolean isNearest(Exchange exchange) {
    return exchange.asked("nearest").equals("on");
  }

  private void missing(Exchange exchange, String sentence) {
    exchange.html(
        Status.NOT_FOUND_404,
        templates.page("refusal", "Not found", "", Map.of("sentence", sentence)));
  }
}
