package dev.pipewright.server.page;

import dev.pipewright.server.store.KeptStudy;
import dev.pipewright.server.store.StudyStore;
import dev.pipewright.server.study.StudyJob;
import dev.pipewright.server.study.StudyQueue;
import dev.pipewright.server.study.StudyRequest;
import dev.pipewright.server.web.Exchange;
import dev.pipewright.server.web.Page;
import dev.pipewright.server.web.Templates;
import io.helidon.http.Status;
import io.helidon.webserver.http.HttpRules;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/** A study under its link: its progress while it is searched, and then its answer with files. */
public final class AnswerPage implements Page {
  private static final Pattern FILE = Pattern.compile("[A-Za-z0-9-]{1,60}[.](json|svg|html)");
  private static final Pattern PRICE = Pattern.compile("[0-9]{1,6}([.][0-9]{1,4})?");
  private static final int TICK = 1_000; // milliseconds between events

  private final Templates templates;
  private final StudyQueue queue;
  private final StudyStore store;

  AnswerPage(Templates templates, StudyQueue queue, StudyStore store) {
    this.templates = templates;
    this.queue = queue;
    this.store = store;
  }

  @Override
  public Optional<Entry> entry() {
    return Optional.empty();
  }

  @Override
  public void route(HttpRules rules) {
    rules.get("/study/{id}", (request, response) -> show(new Exchange(request, response)));
    rules.get("/study/{id}/events", (request, response) -> follow(new Exchange(request, response)));
    rules.post(
        "/study/{id}/cancel", (request, response) -> cancel(new Exchange(request, response)));
    rules.get("/study/{id}/{file}", (request, response) -> file(new Exchange(request, response)));
  }

  private void show(Exchange exchange) {
    String id = exchange.part("id");
    Optional<StudyJob> job = queue.job(id);
    Optional<KeptStudy> study = job.isPresent() ? Optional.empty() : store.find(id);
    if (study.isPresent()) {
      String price = exchange.asked("price");
      AnswerView view =
          AnswerView.of(study.get(), store.files(id), PRICE.matcher(price).matches() ? price : "");
      exchange.html(
          Status.OK_200, templates.page("answer", view.title(), "", Map.of("view", view)));
      return;
    }
    if (job.isPresent()) {
      StudyJob.Status status = job.get().status();
      exchange.html(
          Status.OK_200,
          templates.page(
              "progress",
              status.ended() ? "No answer" : "Planning",
              "",
              Map.of(
                  "id",
                  id,
                  "command",
                  "pipewright " + String.join(" ", job.get().command()),
                  "form",
                  StudyRequest.form(job.get().command(), id),
                  "mistake",
                  status.ended() ? status.sentence() : "")));
      return;
    }
    missing(exchange, "no study has this link; it may be another server's");
  }

  private void missing(Exchange exchange, String sentence) {
    exchange.html(
        Status.NOT_FOUND_404,
        templates.page("refusal", "Not found", "", Map.of("sentence", sentence)));
  }

  private void file(Exchange exchange) {
    String id = exchange.part("id");
    String name = exchange.part("file");
    Optional<byte[]> content = Optional.empty();
    if (name.equals("answer.json")) {
      content = store.find(id).map(study -> study.answer().getBytes(StandardCharsets.UTF_8));
    } else if (FILE.matcher(name).matches()) {
      content = store.file(id, name);
    }
    if (content.isEmpty()) {
      missing(exchange, "this study has no such file");
    } else {
      exchange.file(name, content.get());
    }
  }

  private void cancel(Exchange exchange) throws InterruptedException {
    String id = exchange.part("id");
    Optional<StudyJob> job = queue.job(id);
    queue.cancel(id);
    if (job.isPresent()) {
      job.get().await(2L * TICK);
    }
    exchange.see("/study/" + id);
  }

  /** Says each second how far the study is, until it has ended. */
  private void follow(Exchange exchange) throws InterruptedException {
    Optional<StudyJob> job = queue.job(exchange.part("id"));
    try (OutputStream out = exchange.events()) {
      boolean over = job.isEmpty();
      while (!over) {
        StudyJob.Status status = job.get().status();
        over = status.ended();
        if (!over) {
          send(out, "progress", words(job.get(), status));
          job.get().await(TICK);
        }
      }
      send(out, "over", "");
    } catch (IOException e) {
      return; // the browser has gone
    }
  }

  private String words(StudyJob job, StudyJob.Status status) {
    int before = queue.before(job);
    if (status.state() == StudyJob.State.RUNNING) {
      return "Planning for " + status.seconds() + " s";
    }
    return before == 0 ? "Next in the queue" : before + " before you in the queue";
  }

  private static void send(OutputStream out, String event, String data) throws IOException {
    out.write("event: %s\ndata: %s\n\n".formatted(event, data).getBytes(StandardCharsets.UTF_8));
    out.flush();
  }
}
