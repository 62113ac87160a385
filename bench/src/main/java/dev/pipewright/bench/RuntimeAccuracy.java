package dev.pipewright.bench;

import dev.pipewright.bench.MeasuredStrategies.Case;
import dev.pipewright.bench.MeasuredStrategies.Kind;
import dev.pipewright.bench.MeasuredStrategies.Strategy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.DoubleSummaryStatistics;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.DoubleFunction;
import java.util.function.ToDoubleFunction;
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
      return MeasuredStrategies.change(all.getMin())
          + " … "
          + MeasuredStrategies.change(all.getMax());
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
    for (Case each : MeasuredStrategies.CASES) {
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
                + " waits for, from one that computes.")
        .table(overhead);
  }

  /** Each strategy once, with the profile before it; returns the last profile. */
  private static JsonNode round(Case each, Map<Strategy, Seen> seen) {
    JsonNode profile = null;
    for (Kind kind : MeasuredStrategies.KINDS) {
      try (TemporaryFolder temporary = TemporaryFolder.of(NAME)) {
        Path folder = temporary.path();
        profile = MeasuredStrategies.profile(each, kind, folder);
        for (Strategy strategy : kind.strategies()) {
          if (!strategy.isFor(each)) {
            continue;
          }
          JsonNode answer = MeasuredStrategies.compare(each, strategy, each.steps(), folder);
          seen.computeIfAbsent(strategy, key -> new Seen(new ArrayList<>())).answers().add(answer);
          progress(each, strategy, answer);
        }
      }
    }
    return Objects.requireNonNull(profile);
  }

  private static void progress(Case each, Strategy strategy, JsonNode answer) {
    JsonNode step = answer.get("step").get(0);
    String error = MeasuredStrategies.change(step.get("predicted_error").asDouble());
    String measured = Numbers.significant(step.get("measured").asDouble());
    System.err.printf("%s, %s: %s of %s s%n", each.network(), strategy.name(), error, measured);
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

  private static void row(Markdown table, Case of, Strategy strategy, Seen seen) {
    table.row(
        of.network(),
        strategy.name(),
        MeasuredStrategies.change(seen.step("predicted_error")),
        seen.range("predicted_error"),
        MeasuredStrategies.change(seen.step("simulated_error")),
        Numbers.significant(seen.step("measured")),
        Numbers.percent(seen.median(answer -> answer.get("stolen_share").asDouble())),
        pipeline(seen) ? "%.1f %%".formatted(100 * seen.median(RuntimeAccuracy::ideal)) : "",
        seen.byWorker(
            worker -> worker.get("predicted_error").asDouble(), MeasuredStrategies::change),
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
}
