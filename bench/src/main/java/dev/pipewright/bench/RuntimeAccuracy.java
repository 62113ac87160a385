package dev.pipewright.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;

/**
 * What this machine's own profile predicts of training with up to two worker processes, beside what
 * is measured; and how much of its time a pipeline loses to anything but its ops and their order.
 */
final class RuntimeAccuracy implements Reproduction {
  private static final String STEPS = "15";

  /**
   * @param profiled sizes of micro-batches: those that the strategies below have
   */
  private record Case(String network, int batch, String profiled) {}

  private static final List<Case> CASES =
      List.of(
          new Case("mlp-8x1024", 64, "8,32,64"),
          new Case("cnn-64-128-256", 32, "4,16,32"),
          new Case("gpt-8x256", 8, "1,4,8"));

  private record Strategy(String name, List<String> flags) {
    private static Strategy of(String name, String flags) {
      return new Strategy(name, List.of(flags.split(" ")));
    }
  }

  private static final List<Strategy> STRATEGIES =
      List.of(
          Strategy.of("serial", "--replicas 1"),
          Strategy.of("data", "--replicas 2"),
          Strategy.of("gpipe", "--stages 2 --micro-batches 8 --schedule gpipe"),
          Strategy.of("1f1b", "--stages 2 --micro-batches 8 --schedule 1f1b"),
          Strategy.of(
              "interleaved", "--stages 2 --micro-batches 8 --schedule interleaved --chunks 2"),
          Strategy.of("zb-h1", "--stages 2 --micro-batches 8 --schedule zb-h1"),
          Strategy.of("chimera", "--stages 2 --micro-batches 4 --schedule chimera"));

  @Override
  public String name() {
    return "runtime-accuracy";
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
            "simulated",
            "measured, s",
            "ideal / measured",
            "predicted memory",
            "measured, MiB");
    Markdown overhead =
        new Markdown("profiled", "empty forward, µs", "backward, µs", "message of 4 bytes, µs");
    for (Case each : CASES) {
      Path folder = temporary();
      try {
        overhead(overhead, each, profile(each, folder));
        for (Strategy strategy : STRATEGIES) {
          row(table, each, strategy, compare(each, strategy, folder));
        }
      } finally {
        delete(folder);
      }
    }
    return new Report("Prediction against measurement")
        .paragraph(
            "`Reproduce runtime-accuracy`: each network is profiled on this machine (`profile`),"
                + " then trained with up to two worker processes of one thread each (`compare`, "
                + STEPS
                + " steps). Predicted and simulated: by how much the step is off. Ideal: the step"
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

  private static JsonNode profile(Case of, Path folder) {
    List<String> command = new ArrayList<>(List.of("./pipewright", "profile", of.network()));
    command.addAll(List.of("--batches", of.profiled(), "--links", "2"));
    command.addAll(List.of("--out", folder.toString(), "--json"));
    return Answers.of(command);
  }

  private static JsonNode compare(Case of, Strategy strategy, Path folder) {
    List<String> command = new ArrayList<>(List.of("./pipewright", "compare", of.network()));
    command.addAll(List.of("--global-batch", "" + of.batch(), "--steps", STEPS));
    command.addAll(List.of("--profile", folder.resolve("profile.json").toString()));
    command.addAll(List.of("--cluster", folder.resolve("cluster.yaml").toString()));
    command.addAll(strategy.flags());
    command.add("--json");
    return Answers.of(command);
  }

  private static void row(Markdown table, Case of, Strategy strategy, JsonNode answer) {
    JsonNode step = answer.get("step").get(0);
    List<String> errors = new ArrayList<>();
    List<String> bytes = new ArrayList<>();
    for (JsonNode worker : answer.get("memory")) {
      errors.add(change(worker.get("predicted_error").asDouble()));
      bytes.add("%.0f".formatted(worker.get("measured").asDouble() / (1 << 20)));
    }
    table.row(
        of.network(),
        strategy.name(),
        change(step.get("predicted_error").asDouble()),
        change(step.get("simulated_error").asDouble()),
        Numbers.significant(step.get("measured").asDouble()),
        strategy.flags().contains("--stages") ? "%.1f %%".formatted(100 * ideal(answer)) : "",
        String.join(", ", errors),
        String.join(", ", bytes));
  }

  private static double ideal(JsonNode answer) {
    for (JsonNode item : answer.get("step")) {
      if (item.get("name").asString().startsWith("ops as measured")) {
        return item.get("simulated").asDouble() / item.get("measured").asDouble();
      }
    }
    throw new IllegalStateException("compare does not say what the ideal step takes");
  }

  private static String change(double error) {
    return "%+.1f %%".formatted(100 * error).replace('-', '−');
  }

  private static Path temporary() {
    try {
      return Files.createTempDirectory("runtime-accuracy");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void delete(Path folder) {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
