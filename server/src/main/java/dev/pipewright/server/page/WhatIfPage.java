package dev.pipewright.server.page;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.server.store.StudyStore;
import dev.pipewright.server.web.Exchange;
import dev.pipewright.server.web.Form;
import dev.pipewright.server.web.Page;
import dev.pipewright.server.web.Templates;
import dev.pipewright.server.whatif.Sliders;
import dev.pipewright.server.whatif.WhatIf;
import io.helidon.http.Status;
import io.helidon.webserver.http.HttpRules;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** Moves sliders of a study's question; its plan is searched again at each move. */
public final class WhatIfPage implements Page {
  private static final String PATH = "/what-if";
  private static final String STUDY = "study";
  private static final int ROWS = 20; // studies to choose from

  private final Templates templates;
  private final StudyStore store;
  private final WhatIf whatIf;

  WhatIfPage(Templates templates, StudyStore store) {
    this.templates = templates;
    this.store = store;
    this.whatIf = new WhatIf(store);
  }

  @Override
  public Optional<Entry> entry() {
    return Optional.of(new Entry("What if", PATH));
  }

  @Override
  public void route(HttpRules rules) {
    rules.get(PATH, (request, response) -> show(new Exchange(request, response)));
    rules.get(PATH + "/moved", (request, response) -> move(new Exchange(request, response)));
  }

  private void show(Exchange exchange) throws InterruptedException {
    String id = exchange.asked(STUDY);
    if (id.isEmpty()) {
      exchange.html(Status.OK_200, chooser(""));
      return;
    }
    try {
      Sliders sliders = whatIf.sliders(id, exchange::asked);
      Map<String, Object> shown = new HashMap<>();
      shown.put("id", id);
      shown.put("sliders", sliders);
      shown.put("moved", whatIf.moved(id, sliders));
      shown.put("title", HistoryPage.row(whatIf.kept(id).study()).title());
      shown.put("query", Form.query(whatIf.kept(id).form()));
      exchange.html(Status.OK_200, templates.page("whatif", "What if", PATH, shown));
    } catch (BadInputException e) {
      exchange.html(Status.UNPROCESSABLE_CONTENT_422, chooser(String.valueOf(e.getMessage())));
    }
  }

  /** The answer alone, which a script puts into the page. */
  private void move(Exchange exchange) throws InterruptedException {
    String id = exchange.asked(STUDY);
    try {
      Sliders sliders = whatIf.sliders(id, exchange::asked);
      exchange.html(
          Status.OK_200, templates.part("moved", Map.of("moved", whatIf.moved(id, sliders))));
    } catch (BadInputException e) {
      exchange.html(
          Status.UNPROCESSABLE_CONTENT_422,
          templates.part("mistake", Map.of("sentence", String.valueOf(e.getMessage()))));
    }
  }

  private String chooser(String mistake) {
    return templates.page(
        "whatif-chooser",
        "What if",
        PATH,
        Map.of(
            "mistake",
            mistake,
            "rows",
            store.newest("", 0, ROWS).stream()
                .map(HistoryPage::row)
                .filter(HistoryPage.Row::hasPlan)
                .toList()));
  }
}
