package dev.pipewright.runtime.training;

import dev.pipewright.plan.Flow;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.cyclic.Cyclic;
import dev.pipewright.schedule.periodic.RepeatedOp;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Steps that flow, as a job says them: each worker makes their schedule itself. */
final class FlowJson {
  private FlowJson() {}

  static void put(ObjectNode object, Flow flow) {
    switch (flow) {
      case Flow.PipeDream(List<Integer> replicas, boolean vertical) -> {
        object.put("kind", "pipedream").put("vertical", vertical);
        replicas.forEach(object.putArray("replicas")::add);
      }
      case Flow.TwoBuffers(int stages, int microBatches, boolean shared) ->
          object
              .put("kind", "two-buffers")
              .put("stages", stages)
              .put("micro_batches", microBatches)
              .put("shared", shared);
      case Flow.Repeated repeated -> put(object, repeated);
      case Flow.OneAfterAnother(Cyclic cyclic, Cyclic.Form form, Cyclic.Rule rule) ->
          object
              .put("kind", "cyclic")
              .put("workers", cyclic.workers())
              .put("form", form.name())
              .put("rule", rule.name());
    }
  }

  private static void put(ObjectNode object, Flow.Repeated flow) {
    object
        .put("kind", "repeated")
        .put("period", flow.period())
        .put("batches", flow.batches())
        .put("micro_batches", flow.microBatches());
    flow.ranks().forEach(object.putArray("ranks")::add);
    ArrayNode ops = object.putArray("ops");
    for (RepeatedOp op : flow.ops()) {
      ops.addArray().add(op.pass().name()).add(op.stage()).add(op.start()).add(op.shift());
    }
  }

  private static Flow repeated(JsonNode object) {
    List<Integer> ranks = new ArrayList<>();
    object.get("ranks").forEach(rank -> ranks.add(rank.asInt()));
    List<RepeatedOp> ops = new ArrayList<>();
    for (JsonNode op : object.get("ops")) {
      Pass pass = Pass.valueOf(op.get(0).asString());
      int shift = op.get(3).asInt();
      ops.add(new RepeatedOp(pass, op.get(1).asInt(), op.get(2).asDouble(), shift));
    }
    return new Flow.Repeated(
        ranks,
        object.get("period").asDouble(),
        object.get("batches").asInt(),
        ops,
        object.get("micro_batches").asInt());
  }

  static Flow parse(JsonNode object) {
    return switch (object.get("kind").asString()) {
      case "pipedream" -> {
        List<Integer> replicas = new ArrayList<>();
        object.get("replicas").forEach(count -> replicas.add(count.asInt()));
        yield new Flow.PipeDream(replicas, object.get("vertical").asBoolean());
      }
      case "two-buffers" ->
          new Flow.TwoBuffers(
              object.get("stages").asInt(),
              object.get("micro_batches").asInt(),
              object.get("shared").asBoolean());
      case "repeated" -> repeated(object);
      case "cyclic" ->
          new Flow.OneAfterAnother(
              new Cyclic(object.get("workers").asInt()),
              Cyclic.Form.valueOf(object.get("form").asString()),
              Cyclic.Rule.valueOf(object.get("rule").asString()));
      default -> throw new IllegalArgumentException("no such steps: " + object);
    };
  }
}
