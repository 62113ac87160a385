package dev.pipewright.runtime.profiler;

import dev.pipewright.execution.ProfilingRequest;
import dev.pipewright.model.Optimizer;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.ZeroBubbleH1;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalInt;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * The job of workers that train a network for a few measured steps.
 *
 * @param layers positions of the network's chain on each worker of a pipeline
 * @param microBatch samples
 * @param inTwoParts whether backward passes are split, where there is one worker
 */
record WholeJob(
    String model,
    OptionalInt sequence,
    String data,
    Optimizer optimizer,
    List<Integer> layers,
    int microBatches,
    int microBatch,
    int steps,
    boolean inTwoParts,
    boolean processorTime) {
  private static final JsonMapper JSON = new JsonMapper();

  WholeJob {
    layers = List.copyOf(layers);
  }

  static WholeJob of(
      ProfilingRequest request, List<Integer> layers, int microBatches, int microBatch, int steps) {
    return new WholeJob(
        request.model(),
        request.sequence(),
        request.data(),
        request.optimizer(),
        layers,
        microBatches,
        microBatch,
        steps,
        false,
        request.processorTime());
  }

  /** This job with split backward passes. */
  WholeJob split() {
    return new WholeJob(
        model,
        sequence,
        data,
        optimizer,
        layers,
        microBatches,
        microBatch,
        steps,
        true,
        processorTime);
  }

  /** Each worker has a stage. */
  Assignment assignment() {
    return assignment(1, false);
  }

  /** Each stage has so many replicas, with so many times as many samples. */
  Assignment assignment(int replicas, boolean overlapped) {
    List<StageLayers> stages = new ArrayList<>();
    int first = 0;
    for (int count : layers) {
      stages.add(StageLayers.keeping(first, first + count - 1));
      first += count;
    }
    int depth = layers.size();
    return new Assignment(
        inTwoParts
            ? ZeroBubbleH1.of(depth, microBatches)
            : OneForwardOneBackward.of(depth, microBatches),
        stages,
        Collections.nCopies(layers.size(), replicas),
        replicas * microBatches * microBatch,
        overlapped);
  }

  String text() {
    ObjectNode job = JSON.createObjectNode();
    sequence.ifPresent(tokens -> job.put("sequence", tokens));
    job.put("model", model)
        .put("data", data)
        .put("optimizer", optimizer.name())
        .put("micro_batches", microBatches)
        .put("micro_batch", microBatch)
        .put("steps", steps)
        .put("in_two_parts", inTwoParts)
        .put("processor_time", processorTime);
    layers.forEach(job.putArray("layers")::add);
    return job.toString();
  }

  static WholeJob parse(String text) {
    JsonNode job = JSON.readTree(text);
    List<Integer> layers = new ArrayList<>();
    job.get("layers").forEach(count -> layers.add(count.asInt()));
    return new WholeJob(
        job.get("model").asString(),
        job.has("sequence") ? OptionalInt.of(job.get("sequence").asInt()) : OptionalInt.empty(),
        job.get("data").asString(),
        Optimizer.valueOf(job.get("optimizer").asString()),
        layers,
        job.get("micro_batches").asInt(),
        job.get("micro_batch").asInt(),
        job.get("steps").asInt(),
        job.get("in_two_parts").asBoolean(),
        job.get("processor_time").asBoolean());
  }
}
