package dev.pipewright.server.page;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.machine.MachineClusters;
import dev.pipewright.server.study.StudyJob;
import dev.pipewright.server.study.StudyQueue;
import dev.pipewright.server.study.StudyRequest;
import dev.pipewright.server.study.UploadedNetwork;
import dev.pipewright.server.web.Exchange;
import dev.pipewright.server.web.Multipart;
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
  private static final int MOST_BYTES = UploadedNetwork.MOST_BYTES + (64 << 10); // of a form
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
    Map<String, String> form = new TreeMap<>();
    String id;
    try {
      id = queue.ask(request(exchange, form));
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

  /** What is asked; fills the form as far as it was read. */
  private StudyRequest request(Exchange exchange, Map<String, String> form) {
    if (!exchange.header("Content-Type").orElse("").startsWith("multipart/")) {
      form.putAll(exchange.form());
      return StudyRequest.of(form, kept(form));
    }
    Multipart sent = exchange.multipart(MOST_BYTES);
    form.putAll(sent.fields());
    if (sent.file().isEmpty()) {
      return StudyRequest.of(form, kept(form));
    }
    Multipart.Sent file = sent.file().get();
    String name = form.getOrDefault("model", "").strip();
    if (!name.isEmpty() && !name.endsWith(".json")) {
      throw new BadInputException("model: there are a name and a file; give one of them");
    }
    UploadedNetwork network = UploadedNetwork.of(file.name(), file.content());
    form.put("model", network.name());
    return StudyRequest.of(form, Optional.of(network));
  }

  /** The file of an earlier study, where the form still names it. */
  private Optional<UploadedNetwork> kept(Map<String, String> form) {
    return Optional.ofNullable(form.get("network"))
        .flatMap(queue::network)
        .filter(file -> file.name().equals(form.getOrDefault("model", "").strip()));
  }

  private String page(Map<String, String> form, String mistake) {
    return templates.page(
        "study",
        "Study",
        PATH,
        Map.of(
            "form",
            form,
            "most",
            UploadedNetwork.MOST_BYTES,
            "mistake",
            mistake,
            "models",
            models(),
            "clusters",
            clusters(),
            "examples",
            EXAMPLES));
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
