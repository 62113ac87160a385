package dev.pipewright.formats.sweep;

import dev.pipewright.formats.json.Fields;
import dev.pipewright.formats.json.Node;
import dev.pipewright.formats.sweep.SweepFigures.SweepShape;
import dev.pipewright.units.Range;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The answer of a point: a line of {@code results.jsonl}.
 *
 * @param seconds that planning took
 * @param figures of the plan; empty where there is none
 * @param sentence why there is no plan; empty where there is one
 */
public record SweepResult(
    SweepKey key, Status status, double seconds, Optional<SweepFigures> figures, String sentence) {
  /** How it ended. */
  public enum Status {
    /** There is a plan. */
    PLANNED("planned"),
    /** No plan fits, which is an answer. */
    NOTHING_FITS("nothing-fits"),
    /** The question makes no sense, like a batch that nothing divides. */
    FAILED("failed");

    private static final Map<String, Status> WORDS =
        Arrays.stream(values()).collect(Collectors.toMap(Status::word, Function.identity()));

    private final String word;

    Status(String word) {
      this.word = word;
    }

    public String word() {
      return word;
    }
  }

  private static final List<String> KEYS =
      List.of(
          "model",
          "cluster",
          "global_batch",
          "flags",
          "status",
          "seconds",
          "sentence",
          "planner",
          "objective",
          "value",
          "lower_bound",
          "step_s",
          "cluster_devices",
          "devices",
          "peak_bytes",
          "samples_per_s",
          "tokens_per_s",
          "mfu",
          "schedule",
          "stages",
          "replicas",
          "micro_batches",
          "micro_batch");

  /** The members of the line, in order. */
  public Map<String, Object> members() {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("model", key.model());
    members.put("cluster", key.cluster());
    members.put("global_batch", key.globalBatch());
    members.put("flags", key.flags());
    members.put("status", status.word());
    members.put("seconds", Math.round(seconds * 1e6) / 1e6);
    if (!sentence.isEmpty()) {
      members.put("sentence", sentence);
    }
    figures.ifPresent(found -> put(members, found));
    return members;
  }

  private static void put(Map<String, Object> members, SweepFigures found) {
    members.put("planner", found.planner());
    members.put("objective", found.objective());
    members.put("value", found.value());
    found.lowerBound().ifPresent(bound -> members.put("lower_bound", bound));
    if (Double.isFinite(found.stepSeconds())) {
      members.put("step_s", found.stepSeconds());
    }
    members.put("cluster_devices", found.clusterDevices());
    members.put("devices", found.devices());
    members.put("peak_bytes", Math.round(found.peakBytes()));
    found.samplesPerSecond().ifPresent(rate -> members.put("samples_per_s", rate));
    found.tokensPerSecond().ifPresent(rate -> members.put("tokens_per_s", rate));
    found.utilization().ifPresent(share -> members.put("mfu", share));
    members.put("schedule", found.shape().schedule());
    members.put("stages", found.shape().stages());
    members.put("replicas", found.shape().replicas());
    members.put("micro_batches", found.shape().microBatches());
    members.put("micro_batch", found.shape().microBatch());
  }

  /** Reads a line. */
  static SweepResult of(Node node) {
    Fields line = node.object(KEYS);
    SweepKey key =
        new SweepKey(
            line.required("model").text(),
            line.required("cluster").text(),
            line.required("global_batch").count(1),
            line.required("flags").text());
    Status status = line.required("status").word(Status.WORDS);
    return new SweepResult(
        key,
        status,
        line.required("seconds").amount(Range.SECONDS),
        status == Status.PLANNED ? Optional.of(figures(line)) : Optional.empty(),
        line.optional("sentence").map(Node::text).orElse(""));
  }

  private static SweepFigures figures(Fields line) {
    return new SweepFigures(
        line.required("planner").text(),
        line.required("objective").text(),
        line.required("value").finite(),
        number(line, "lower_bound"),
        number(line, "step_s").orElse(Double.NaN),
        line.required("cluster_devices").count(1),
        line.required("devices").count(1),
        line.required("peak_bytes").finite(),
        number(line, "samples_per_s"),
        number(line, "tokens_per_s"),
        number(line, "mfu"),
        new SweepShape(
            line.required("schedule").text(),
            line.required("stages").count(1),
            line.required("replicas").count(1),
            line.required("micro_batches").count(1),
            line.required("micro_batch").count(1)));
  }

  private static OptionalDouble number(Fields line, String key) {
    return line.optional(key)
        .map(node -> OptionalDouble.of(node.finite()))
        .orElse(OptionalDouble.empty());
  }

  /** Whether another run of the point says the same, whatever time it took. */
  public boolean agrees(SweepResult that) {
    Map<String, Object> own = members();
    Map<String, Object> other = that.members();
    own.remove("seconds");
    other.remove("seconds");
    return own.equals(other);
  }
}
