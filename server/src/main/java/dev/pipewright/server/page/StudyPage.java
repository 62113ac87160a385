package dev.pipewright.server.page;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.machine.MachineClusters;
import dev.pipewright.server.study.StudyJob;
import dev.pipewright.server.study.StudyQueue;
import dev.pipewright.server.study.StudyRequest;
import dev.pipewright.server.web.Exchange;
import dev.pipewright.server.web.Page;
import dev.pipewright.server.web.Templates;
import dev.pipewright.zoo.Clusters;
import dev.pipewright.zoo.Models;
import dev.pipewright.zoo.Transformers;
import io.helidon.http.Status;
import io.helidon.webserver.http.HttpRules;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/** Asks a study: the form, its examples, and the way from it to the answer. */
public final class StudyPage implements Page {
  private static final String PATH = "/";
  private static final int PATIENCE = 200; // milliseconds in which most mistakes are found

  /** A question to start from. */
  public record Example(String model, String cluster, String batch, String why) {}

  private static final List<Example> EXAMPLES =
      List.of(
          new Example("bert-48", "dapple-a", "64", "a hybrid pipeline on slow links"),
          new Example("llama3-8b", "h100:2x8", "128", "two machines of eight"),
          new Example("gpt:layers=24,hidden=2048", "dgx-a100:2x8", "256", "a size of your own"),
          new Example("resnet-152", "dapple-b", "256", "data parallelism wins"));

  private final Templates templates;
  private final StudyQueue queue;

  StudyPage(Templates templates, StudyQueue queue) {
    this.templates = templates;
    this.queue = queue;
  }

  @Override
  public Optional<Entry> entry() {
    return Optional.of(new Entry("Study", PATH));
  }

  @Override
  public void route(HttpRules rules) {
    rules.get(PATH, (request, response) -> show(new Exchange(request, response)));
    rules.post("/study", (request, response) -> ask(new Exchange(request, response)));
  }

  private void show(Exchange exchange) {
    Map<String, String> form = new TreeMap<>();
    for (String name : StudyRequest.FIELDS) {
      String value = exchange.asked(name);
      if (!value.isEmpty()) {
        form.put(name, value);
      }
    }
    exchange.html(Status.OK_200, page(form, ""));
  }

  private void ask(Exchange exchange) throws InterruptedException {
    Map<String, String> form = exchange.form();
    String id;
    try {
      id = queue.ask(StudyRequest.of(form));
    } catch (BadInputException e) {
      exchange.html(Status.UNPROCESSABLE_CONTENT_422, page(form, String.valueOf(e.getMessage())));
      return;
    }
    Optional<StudyJob> job = queue.job(id);
    if (job.isPresent()) {
      StudyJob.Status status = job.get().await(PATIENCE);
      if (status.state() == StudyJob.State.REFUSED) {
        exchange.html(Status.UNPROCESSABLE_CONTENT_422, page(form, status.sentence()));
        return;
      }
    }
    String price = form.getOrDefault("price", "").strip();
    exchange.see("/study/" + id + (price.isEmpty() ? "" : "?price=" + price));
  }

  private String page(Map<String, String> form, String mistake) {
    return templates.page(
        "study",
        "Study",
        PATH,
        Map.of(
            "form", form,
            "mistake", mistake,
            "models", models(),
            "clusters", clusters(),
            "examples", EXAMPLES));
  }

  private static List<String> models() {
    TreeSet<String> names = new TreeSet<>(Models.names());
    names.addAll(Transformers.names());
    return List.copyOf(names);
  }

  private static List<String> clusters() {
    TreeSet<String> names = new TreeSet<>(Clusters.names());
    names.addAll(MachineClusters.names());
    return List.copyOf(names);
  }

  /** What an objective means. */
  public static String words(String objective) {
    return switch (objective) {
      case "time" -> "shortest step";
      case "memory" -> "least memory";
      case "cost" -> "fewest device-seconds";
      default -> objective;
    };
  }

  /** Whether the form says more than most do. */
  public static boolean opensMore(Map<String, String> form) {
    return form.containsKey("sequence")
        || form.containsKey("price")
        || !form.getOrDefault("precision", "default").equals("default")
        || !form.getOrDefault("optimizer", "default").equals("default");
  }
}
