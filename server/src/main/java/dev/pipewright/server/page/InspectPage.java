package dev.pipewright.server.page;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.server.inspect.Inspection;
import dev.pipewright.server.inspect.Inspections;
import dev.pipewright.server.inspect.Inspector;
import dev.pipewright.server.inspect.Upload;
import dev.pipewright.server.study.StudyRequest;
import dev.pipewright.server.web.Exchange;
import dev.pipewright.server.web.Multipart;
import dev.pipewright.server.web.Page;
import dev.pipewright.server.web.Templates;
import io.helidon.http.Status;
import io.helidon.webserver.http.HttpRules;
import java.util.Map;
import java.util.Optional;

/** Says of any file what it is, whether it is valid, and what to do with it. */
public final class InspectPage implements Page {
  private static final String PATH = "/inspect";
  private static final int MOST_BYTES = 20 << 20;
  private static final int LONGEST_LAYOUT = 4_000;

  private final Templates templates;
  private final Inspector inspector = new Inspector();
  private final Inspections inspections = new Inspections();

  InspectPage(Templates templates) {
    this.templates = templates;
  }

  @Override
  public Optional<Entry> entry() {
    return Optional.of(new Entry("Inspect", PATH));
  }

  @Override
  public void route(HttpRules rules) {
    rules.get(PATH, (request, response) -> ask(new Exchange(request, response)));
    rules.post(PATH, (request, response) -> inspect(new Exchange(request, response)));
    rules.get(PATH + "/{id}", (request, response) -> show(new Exchange(request, response)));
    rules.get(PATH + "/{id}/{file}", (request, response) -> file(new Exchange(request, response)));
  }

  private void ask(Exchange exchange) {
    exchange.html(Status.OK_200, page(Map.of(), ""));
  }

  private String page(Map<String, String> form, String mistake) {
    return templates.page(
        "inspect", "Inspect", PATH, Map.of("form", form, "mistake", mistake, "most", MOST_BYTES));
  }

  private void inspect(Exchange exchange) throws InterruptedException {
    Map<String, String> fields = Map.of();
    try {
      Multipart sent = exchange.multipart(MOST_BYTES);
      fields = sent.fields();
      exchange.see(PATH + "/" + inspections.keep(inspection(sent)));
    } catch (BadInputException e) {
      exchange.html(Status.UNPROCESSABLE_CONTENT_422, page(fields, String.valueOf(e.getMessage())));
    }
  }

  private Inspection inspection(Multipart sent) throws InterruptedException {
    String layout = field(sent, "layout");
    if (sent.file().isPresent()) {
      String model = field(sent, "model");
      String cluster = field(sent, "cluster");
      Inspector.For given =
          new Inspector.For(
              model.isEmpty() ? "" : StudyRequest.model(model),
              cluster.isEmpty() ? "" : StudyRequest.cluster(cluster));
      Multipart.Sent file = sent.file().get();
      return inspector.inspect(new Upload(file.name(), file.content()), given);
    }
    if (layout.isEmpty()) {
      throw new BadInputException("there is neither a file nor a layout; give one of them");
    }
    if (layout.length() > LONGEST_LAYOUT) {
      throw new BadInputException(
          "layout: has more than %,d characters; check it with the command line"
              .formatted(LONGEST_LAYOUT));
    }
    return inspector.layout(
        layout, StudyRequest.whole("pipeline", field(sent, "pipeline"), "like 4"));
  }

  private static String field(Multipart sent, String name) {
    return sent.fields().getOrDefault(name, "").strip();
  }

  private void show(Exchange exchange) {
    String id = exchange.part("id");
    Optional<Inspection> found = inspections.find(id);
    if (found.isEmpty()) {
      missing(exchange, "this file is not kept any more; inspect it anew");
      return;
    }
    exchange.html(
        Status.OK_200,
        templates.page("inspected", "Inspect", PATH, Map.of("id", id, "seen", found.get())));
  }

  private void file(Exchange exchange) {
    String name = exchange.part("file");
    Optional<byte[]> content =
        inspections
            .find(exchange.part("id"))
            .map(found -> found.files().getOrDefault(name, new byte[0]));
    if (content.isEmpty() || content.get().length == 0) {
      missing(exchange, "this inspection has no such file");
    } else {
      exchange.file(name, content.get());
    }
  }

  private void missing(Exchange exchange, String sentence) {
    exchange.html(
        Status.NOT_FOUND_404,
        templates.page("refusal", "Not found", "", Map.of("sentence", sentence)));
  }
}
