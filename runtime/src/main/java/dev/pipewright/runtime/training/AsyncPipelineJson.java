package dev.pipewright.runtime.training;

import dev.pipewright.plan.AsyncPipeline;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.PipeDream;
import dev.pipewright.schedule.cyclic.Cyclic;
import dev.pipewright.schedule.periodic.RepeatedOp;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Writes and reads the asynchronous pipeline of a job; each worker makes the schedule itself. */
final class AsyncPipelineJson {
  private AsyncPipelineJson() {}

  static void put(ObjectNode object, AsyncPipeline asyncPipeline) {
    switch (asyncPipeline) {
      case AsyncPipeline.PipeDream(List<Integer> replicas, boolean vertical) -> {
        object.put("kind", PipeDream.NAME).put("vertical", vertical);
        replicas.forEach(object.putArray("replicas")::add);
      }
      case AsyncPipeline.DoubleBuffered(int stages, int microBatches, boolean shared) ->
          object
              .put("kind", "two-buffers")
              .put("stages", stages)
              .put("micro_batches", microBatches)
              .put("shared", shared);
      case AsyncPipeline.Repeated repeated -> put(object, repeated);
      case AsyncPipeline.CyclicDataParallel(Cyclic cyclic, Cyclic.Form form, Cyclic.Rule rule) ->
          object
              .put("kind", "cyclic")
              .put("workers", cyclic.workers())
              .put("form", form.name())
              .put("rule", rule.name());
    }
  }

  private static void put(ObjectNode object, AsyncPipeline.Repeated asyncPipeline) {
    object
        .put("kind", "repeated")
        .put("period", asyncPipeline.period())
        .put("batches", asyncPipeline.batches())
        .put("micro_batches", asyncPipeline.microBatches());
    asyncPipeline.ranks().forEach(object.putArray("ranks")::add);
    ArrayNode ops = object.putArray("ops");
    for (RepeatedOp op : asyncPipeline.ops()) {
      ops.addArray().add(op.pass().name()).add(op.stage()).add(op.start()).add(op.shift());
    }
  }

  private static AsyncPipeline repeated(JsonNode object) {
    List<Integer> ranks = new ArrayList<>();
    object.get("ranks").forEach(rank -> ranks.add(rank.asInt()));
    List<RepeatedOp> ops = new ArrayList<>();
    for (JsonNode op : object.get("ops")) {
      Pass pass = Pass.valueOf(op.get(0).asString());
      int shift = op.get(3).asInt();
      ops.add(new RepeatedOp(pass, op.get(1).asInt(), op.get(2).asDouble(), shift));
    }
    return new AsyncPipeline.Repeated(
        ranks,
        object.get("period").asDouble(),
        object.get("batches").asInt(),
        ops,
        object.get("micro_batches").asInt());
  }

  static AsyncPipeline parse(JsonNode object) {
    return switch (object.get("kind").asString()) {
      case PipeDream.NAME -> {
        List<Integer> replicas = new ArrayList<>();
        object.get("replicas").forEach(count -> replicas.add(count.asInt()));
        yield new AsyncPipeline.PipeDream(replicas, object.get("vertical").asBoolean());
      }
      case "two-buffers" ->
          new AsyncPipeline.DoubleBuffered(
              object.get("stages").asInt(),
              object.get("micro_batches").asInt(),
              object.get("shared").asBoolean());
      case "repeated" -> repeated(object);
      case "cyclic" ->
          new AsyncPipeline.CyclicDataParallel(
              new Cyclic(object.get("workers").asInt()),
              Cyclic.Form.valueOf(object.get("form").asString()),
              Cyclic.Rule.valueOf(object.get("rule").asString()));
      default -> throw new IllegalArgumentException("no such steps: " + object);
    };
  }
}
