package dev.pipewright.bench;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.DoubleSummaryStatistics;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.DoubleFunction;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/**
 * What this machine's own profile predicts of training with up to two worker processes, beside what
 * is measured; and how much of its time a pipeline loses to anything but its ops and their order.
 * Each round profiles again: other programs on the processor's other cores change its speed from
 * minute to minute.
 */
final class RuntimeAccuracy implements Reproduction {
  private static final String NAME = "runtime-accuracy";
  private static final int ROUNDS = 3;

  /**
   * @param steps so many that the later half of them takes seconds
   */
  private record Case(String network, int batch, int steps) {}

  private static final String PERCEPTRON = "mlp-8x1024";
  private static final String CONVOLUTIONS = "cnn-64-128-256";
  private static final String LANGUAGE =
      "gpt:layers=4,hidden=256,heads=4,sequence=64,vocabulary=256";

  private static final List<Case> CASES =
      List.of(
          new Case(PERCEPTRON, 64, 41), new Case(CONVOLUTIONS, 16, 21), new Case(LANGUAGE, 8, 21));

  /**
   * @param networks that it is for
   */
  private record Strategy(String name, List<String> flags, List<String> networks) {
    private static Strategy of(String name, String flags) {
      return of(name, flags, PERCEPTRON, CONVOLUTIONS, LANGUAGE);
    }

    private static Strategy of(String name, String flags, String... networks) {
      return new Strategy(name, List.of(flags.split(" ")), List.of(networks));
    }
  }

  /**
   * Strategies that are predicted from the same profile.
   *
   * @param workers that compute at once
   * @param parts of the batch that workers compute one by one
   */
  private record Kind(int workers, List<Integer> parts, List<Strategy> strategies) {
    private String batches(int batch) {
      return parts.stream().map(each -> "" + batch / each).collect(Collectors.joining(","));
    }
  }

  private static final List<Kind> KINDS =
      List.of(
          new Kind(
              1,
              List.of(2, 1),
              List.of(
                  Strategy.of("serial", "--replicas 1"),
                  Strategy.of("cyclic-v2-single", "--stages 2 --schedule cyclic-v2-single"))),
          new Kind(
              2,
              List.of(8, 4, 2, 1),
              List.of(
                  Strategy.of("data", "--replicas 2"),
                  Strategy.of("filter", "--split filter:2", PERCEPTRON, CONVOLUTIONS),
                  Strategy.of("channel", "--split channel:2", PERCEPTRON, CONVOLUTIONS),
                  Strategy.of("spatial", "--split spatial:2", CONVOLUTIONS),
                  Strategy.of("tensor", "--split tensor:2", LANGUAGE),
                  Strategy.of("sequence", "--split sequence:2", LANGUAGE),
                  Strategy.of("gpipe", "--stages 2 --micro-batches 8 --schedule gpipe"),
                  Strategy.of("1f1b", "--stages 2 --micro-batches 8 --schedule 1f1b"),
                  Strategy.of(
                      "interleaved",
                      "--stages 2 --micro-batches 8 --schedule interleaved --chunks 2"),
                  Strategy.of("zb-h1", "--stages 2 --micro-batches 8 --schedule zb-h1"),
                  Strategy.of("chimera", "--stages 2 --micro-batches 4 --schedule chimera"),
                  Strategy.of("pipedream", "--stages 2 --schedule pipedream"),
                  Strategy.of(
                      "pipedream, vertical sync",
                      "--stages 2 --schedule pipedream --vertical-sync"),
                  Strategy.of("pipedream-2bw", "--stages 2 --schedule pipedream-2bw"),
                  Strategy.of("cyclic-v1", "--stages 2 --schedule cyclic-v1"),
                  Strategy.of("cyclic-v2", "--stages 2 --schedule cyclic-v2"),
                  Strategy.of("cyclic-v2-pipeline", "--stages 2 --schedule cyclic-v2-pipeline"))));

  /** What rounds have shown of a strategy. */
  private record Seen(List<JsonNode> answers) {
    private double median(ToDoubleFunction<JsonNode> of) {
      double[] values = answers.stream().mapToDouble(of).sorted().toArray();
      return (values[(values.length - 1) / 2] + values[values.length / 2]) / 2;
    }

    private String range(String key) {
      DoubleSummaryStatistics all =
          answers.stream()
              .mapToDouble(answer -> answer.get("step").get(0).get(key).asDouble())
              .summaryStatistics();
      return change(all.getMin()) + " … " + change(all.getMax());
    }

    private double step(String key) {
      return median(answer -> answer.get("step").get(0).get(key).asDouble());
    }

    private String byWorker(ToDoubleFunction<JsonNode> of, DoubleFunction<String> text) {
      List<String> all = new ArrayList<>();
      for (int i = 0; i < answers.get(0).get("memory").size(); i++) {
        int worker = i;
        all.add(text.apply(median(answer -> of.applyAsDouble(answer.get("memory").get(worker)))));
      }
      return String.join(", ", all);
    }
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public boolean needsReference() {
    return false;
  }

  @Override
  public Report run(Reference reference) {
    Markdown table =
        new Markdown(
            "network",
            "strategy",
            "predicted",
            "from … to",
            "simulated",
            "measured, s",
            "stolen",
            "ideal / measured",
            "predicted memory",
            "measured, MiB");
    Markdown overhead =
        new Markdown("profiled", "empty forward, µs", "backward, µs", "message of 4 bytes, µs");
    for (Case each : CASES) {
      Map<Strategy, Seen> seen = new LinkedHashMap<>();
      JsonNode last = null;
      for (int round = 0; round < ROUNDS; round++) {
        last = round(each, seen);
      }
      overhead(overhead, each, Objects.requireNonNull(last));
      seen.forEach((strategy, answers) -> row(table, each, strategy, answers));
    }
    return new Report("Prediction against measurement")
        .paragraph(
            "`Reproduce runtime-accuracy`: each network is profiled on this machine (`profile"
                + " --workers N`, with as many busy workers as train), then trained with up to two"
                + " worker processes of one thread each (`compare`); medians of "
                + ROUNDS
                + " rounds. Predicted and simulated: by how much the step is off. Stolen: what the"
                + " host gave to others of the processor time that was wanted. Ideal: the step"
                + " of the measured ops in the schedule's order when messages and sums take no"
                + " time. Memory: the most that each worker's tensors and what computes with them"
                + " take; by how much the prediction is off.")
        .table(table)
        .paragraph(
            "What the runtime adds to an op, as the same profiles measured it: an op whose stage"
                + " computes nothing, with all its bookkeeping, and a message that another worker"
                + " waits for.")
        .table(overhead);
  }

  /** Each strategy once, with the profile before it; returns the last profile. */
  private static JsonNode round(Case each, Map<Strategy, Seen> seen) {
    JsonNode profile = null;
    for (Kind kind : KINDS) {
      try (TemporaryFolder temporary = TemporaryFolder.of(NAME)) {
        Path folder = temporary.path();
        profile = profile(each, kind, folder);
        for (Strategy strategy : kind.strategies()) {
          if (!strategy.networks().contains(each.network())) {
            continue;
          }
          JsonNode answer = compare(each, strategy, folder);
          seen.computeIfAbsent(strategy, key -> new Seen(new ArrayList<>())).answers().add(answer);
          progress(each, strategy, answer);
        }
      }
    }
    return Objects.requireNonNull(profile);
  }

  private static void progress(Case each, Strategy strategy, JsonNode answer) {
    String error = change(answer.get("step").get(0).get("predicted_error").asDouble());
    System.err.println(each.network() + ", " + strategy.name() + ": " + error);
  }

  private static void overhead(Markdown table, Case of, JsonNode profile) {
    JsonNode op = profile.get("op_overhead");
    double message = Double.NaN;
    for (JsonNode link : profile.get("links")) {
      if (link.get("operation").asString().equals("message")) {
        message = link.get("latency_s").asDouble();
      }
    }
    table.row(
        of.network(),
        microseconds(op.get("forward_s").asDouble()),
        microseconds(op.get("backward_s").asDouble()),
        microseconds(message));
  }

  private static String microseconds(double seconds) {
    return "%.1f".formatted(seconds * 1e6);
  }

  private static JsonNode profile(Case of, Kind kind, Path folder) {
    List<String> command = new ArrayList<>(List.of("./pipewright", "profile", of.network()));
    command.addAll(List.of("--batches", kind.batches(of.batch())));
    command.addAll(List.of("--workers", "" + kind.workers(), "--links", "2", "--repeats", "7"));
    command.addAll(List.of("--out", folder.toString(), "--json"));
    return Answers.of(command);
  }

  private static JsonNode compare(Case of, Strategy strategy, Path folder) {
    List<String> command = new ArrayList<>(List.of("./pipewright", "compare", of.network()));
    command.addAll(List.of("--global-batch", "" + of.batch(), "--steps", "" + of.steps()));
    command.addAll(List.of("--profile", folder.resolve("profile.json").toString()));
    command.addAll(List.of("--cluster", folder.resolve("cluster.yaml").toString()));
    command.addAll(strategy.flags());
    command.add("--json");
    return Answers.of(command);
  }

  private static void row(Markdown table, Case of, Strategy strategy, Seen seen) {
    table.row(
        of.network(),
        strategy.name(),
        change(seen.step("predicted_error")),
        seen.range("predicted_error"),
        change(seen.step("simulated_error")),
        Numbers.significant(seen.step("measured")),
        Numbers.percent(seen.median(answer -> answer.get("stolen_share").asDouble())),
        pipeline(seen) ? "%.1f %%".formatted(100 * seen.median(RuntimeAccuracy::ideal)) : "",
        seen.byWorker(worker -> worker.get("predicted_error").asDouble(), RuntimeAccuracy::change),
        seen.byWorker(
            worker -> worker.get("measured").asDouble(),
            bytes -> "%.0f".formatted(bytes / (1 << 20))));
  }

  private static final String IDEAL = "ops as measured";

  private static boolean isIdeal(JsonNode item) {
    return item.get("name").asString().startsWith(IDEAL);
  }

  /** Whether there are steps of several ranks that end. */
  private static boolean pipeline(Seen seen) {
    JsonNode answer = seen.answers().get(0);
    return answer.get("stage").size() > 1
        && answer.get("step").valueStream().anyMatch(RuntimeAccuracy::isIdeal);
  }

  private static double ideal(JsonNode answer) {
    JsonNode item =
        answer.get("step").valueStream().filter(RuntimeAccuracy::isIdeal).findFirst().orElseThrow();
    return item.get("simulated").asDouble() / item.get("measured").asDouble();
  }

  private static String change(double error) {
    return "%+.1f %%".formatted(100 * error).replace('-', '−');
  }
}
