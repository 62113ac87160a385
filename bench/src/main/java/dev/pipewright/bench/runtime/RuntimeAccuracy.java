package dev.pipewright.bench.runtime;

import dev.pipewright.bench.reproduction.Markdown;
import dev.pipewright.bench.reproduction.Numbers;
import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.bench.reproduction.Report;
import dev.pipewright.bench.reproduction.Reproduction;
import dev.pipewright.bench.runtime.MeasuredStrategies.Case;
import dev.pipewright.bench.runtime.MeasuredStrategies.Kind;
import dev.pipewright.bench.runtime.MeasuredStrategies.Strategy;
import dev.pipewright.runtime.launch.TemporaryFolder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.Optional;
import java.util.function.DoubleFunction;
import java.util.function.ToDoubleFunction;
import tools.jackson.databind.JsonNode;

/**
 * What this machine's own profile predicts of training with up to two worker processes, beside what
 * is measured; and how much of its time a pipeline loses to anything but its ops and their order.
 * Each round profiles again: other programs on the processor's other cores change its speed from
 * minute to minute. Rounds that were measured are kept, and what is missing is measured.
 */
public final class RuntimeAccuracy implements Reproduction {
  private static final String NAME = "runtime-accuracy";
  private static final int ROUNDS = 2;
  private static final Path KEPT = Path.of("bench/target/runtime-accuracy.jsonl");

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

    private double medianStepError() {
      return median(answer -> named(answer, "median").get("predicted_error").asDouble());
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
  public String summary() {
    return "Predicted and measured steps of the runtime.";
  }

  @Override
  public Report run(Reference reference) {
    MeasuredRounds rounds = new MeasuredRounds(KEPT);
    for (int round = 0; round < ROUNDS; round++) {
      for (Case each : MeasuredStrategies.CASES) {
        for (Kind kind : MeasuredStrategies.KINDS) {
          measure(each, kind, round, rounds);
        }
      }
    }
    return report(rounds);
  }

  /** Strategies of a kind that have been measured in no more rounds, with a profile before them. */
  private static void measure(Case each, Kind kind, int round, MeasuredRounds rounds) {
    List<Strategy> missing =
        kind.strategies().stream()
            .filter(strategy -> strategy.isFor(each))
            .filter(strategy -> rounds.answers(each.network(), strategy.name()).size() <= round)
            .toList();
    if (missing.isEmpty()) {
      return;
    }
    try (TemporaryFolder temporary = TemporaryFolder.create()) {
      Path folder = temporary.path();
      rounds.profiled(each.network(), MeasuredStrategies.profile(each, kind, folder));
      for (Strategy strategy : missing) {
        JsonNode answer = MeasuredStrategies.compare(each, strategy, each.steps(), folder);
        rounds.compared(each.network(), strategy.name(), answer);
        progress(each, strategy, answer);
      }
    }
  }

  private static Report report(MeasuredRounds rounds) {
    Markdown table =
        new Markdown(
            "network",
            "strategy",
            "predicted",
            "from … to",
            "of the median",
            "simulated",
            "measured, s",
            "stolen",
            "ideal / measured",
            "predicted memory",
            "measured, MiB");
    Markdown overhead =
        new Markdown(
            "profiled",
            "empty forward, µs",
            "backward, µs",
            "message, of each end's computing, µs",
            "message of 4 bytes, µs");
    for (Case each : MeasuredStrategies.CASES) {
      for (Kind kind : MeasuredStrategies.KINDS) {
        for (Strategy strategy : kind.strategies()) {
          if (strategy.isFor(each)) {
            row(table, each, strategy, new Seen(rounds.answers(each.network(), strategy.name())));
          }
        }
      }
      overhead(overhead, each, rounds.profile(each.network()));
    }
    return new Report("Prediction against measurement")
        .paragraph(
            "`Reproduce runtime-accuracy`: each network is profiled on this machine (`profile"
                + " --workers N`, with as many busy workers as train), then trained with up to two"
                + " worker processes of one thread each (`compare`); medians of "
                + ROUNDS
                + " rounds. Predicted and simulated: by how much the step is off. Measured: the"
                + " lower quartile of a run's steps, as profiles count, since what others do on"
                + " the machine only lengthens steps; beside it, by how much the median step is"
                + " off. Stolen: what the host gave to others of the processor time that was"
                + " wanted. Ideal: the step of the measured ops in the schedule's order when"
                + " messages and sums take no time. Memory: the most that each worker's tensors"
                + " and what computes with them take; by how much the prediction is off.")
        .table(table)
        .paragraph(
            "What the runtime adds to an op, as the same profiles measured it: an op whose stage"
                + " computes nothing, with all its bookkeeping; by how much a message, beside what its"
                + " bytes take, lengthens what either of its ends computes; and until a worker has it"
                + " that waits for it, from one that computes.")
        .table(overhead);
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
        microseconds(profile.get("message_overhead").get("per_message_s").asDouble()),
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
        MeasuredStrategies.change(seen.medianStepError()),
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

  /** Of the step, what is called so. */
  private static JsonNode named(JsonNode answer, String begin) {
    return find(answer, begin).orElseThrow();
  }

  private static Optional<JsonNode> find(JsonNode answer, String begin) {
    return answer
        .get("step")
        .valueStream()
        .filter(item -> item.get("name").asString().startsWith(begin))
        .findFirst();
  }

  /** Whether there are steps of several ranks that end. */
  private static boolean pipeline(Seen seen) {
    JsonNode answer = seen.answers().get(0);
    return answer.get("stage").size() > 1 && find(answer, IDEAL).isPresent();
  }

  private static double ideal(JsonNode answer) {
    JsonNode item = named(answer, IDEAL);
    return item.get("simulated").asDouble() / item.get("measured").asDouble();
  }
}
