package dev.pipewright.runtime.profiler;

import dev.pipewright.execution.ProfilingRequest;
import dev.pipewright.model.Optimizer;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** The job of the worker that measures layers. */
record LayersJob(
    String model,
    OptionalInt sequence,
    String data,
    List<Integer> batches,
    int repeats,
    Optimizer optimizer,
    boolean processorTime) {
  private static final JsonMapper JSON = new JsonMapper();

  static LayersJob of(ProfilingRequest request) {
    return new LayersJob(
        request.model(),
        request.sequence(),
        request.data(),
        request.batches(),
        request.repeats(),
        request.optimizer(),
        request.processorTime());
  }

  String text() {
    ObjectNode job = JSON.createObjectNode();
    sequence.ifPresent(tokens -> job.put("sequence", tokens));
    job.put("model", model)
        .put("data", data)
        .put("repeats", repeats)
        .put("optimizer", optimizer.name())
        .put("processor_time", processorTime);
    batches.forEach(job.putArray("batches")::add);
    return job.toString();
  }

  static LayersJob parse(String text) {
    JsonNode job = JSON.readTree(text);
    List<Integer> batches = new ArrayList<>();
    job.get("batches").forEach(batch -> batches.add(batch.asInt()));
    return new LayersJob(
        job.get("model").asString(),
        job.has("sequence") ? OptionalInt.of(job.get("sequence").asInt()) : OptionalInt.empty(),
        job.get("data").asString(),
        batches,
        job.get("repeats").asInt(),
        Optimizer.valueOf(job.get("optimizer").asString()),
        job.get("processor_time").asBoolean());
  }
}
