package dev.pipewright.runtime.training;

import dev.pipewright.plan.Flow;
import dev.pipewright.schedule.cyclic.Cyclic;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;
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
      case Flow.OneAfterAnother(Cyclic cyclic, Cyclic.Form form, Cyclic.Rule rule) ->
          object
              .put("kind", "cyclic")
              .put("workers", cyclic.workers())
              .put("form", form.name())
              .put("rule", rule.name());
    }
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
      case "cyclic" ->
          new Flow.OneAfterAnother(
              new Cyclic(object.get("workers").asInt()),
              Cyclic.Form.valueOf(object.get("form").asString()),
              Cyclic.Rule.valueOf(object.get("rule").asString()));
      default -> throw new IllegalArgumentException("no such steps: " + object);
    };
  }
}
