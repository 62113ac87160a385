package dev.pipewright.runtime.profiler;

import dev.pipewright.execution.ProfilingOutcome.LayerFigures;
import dev.pipewright.execution.ProfilingOutcome.Overhead;
import dev.pipewright.execution.ProfilingOutcome.Spread;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * What the worker that measures layers answers for one size of batch.
 *
 * @param workers that computed at the same time
 * @param layers without what the runtime itself takes
 */
record LayersReport(
    int samples,
    int workers,
    Overhead overhead,
    double flops,
    double bytesPerSecond,
    double readSeconds,
    double lossSeconds,
    List<LayerFigures> layers) {
  private static final JsonMapper JSON = new JsonMapper();

  String text() {
    ObjectNode object = JSON.createObjectNode();
    object.put("samples", samples).put("workers", workers);
    numbers(
        object.putArray("overhead"),
        overhead.forward(),
        overhead.backward(),
        overhead.inputGradient(),
        overhead.weightGradient());
    object.put("flops", flops).put("bytes_per_s", bytesPerSecond);
    object.put("read", readSeconds).put("loss", lossSeconds);
    ArrayNode all = object.putArray("layers");
    for (LayerFigures layer : layers) {
      ObjectNode own = all.addObject();
      put(own, "forward", layer.forward());
      put(own, "backward", layer.backward());
      put(own, "input", layer.inputGradient());
      put(own, "weight", layer.weightGradient());
      put(own, "update", layer.update());
      own.put("kept", layer.keptBytes())
          .put("output", layer.outputBytes())
          .put("parameters", layer.parameterBytes());
    }
    return object.toString();
  }

  private static void put(ObjectNode object, String key, Spread spread) {
    numbers(object.putArray(key), spread.least(), spread.median(), spread.most());
  }

  private static void numbers(ArrayNode array, double... numbers) {
    for (double number : numbers) {
      array.add(number);
    }
  }

  static LayersReport parse(String text) {
    JsonNode object = JSON.readTree(text);
    JsonNode overhead = object.get("overhead");
    List<LayerFigures> layers = new ArrayList<>();
    for (JsonNode own : object.get("layers")) {
      layers.add(
          new LayerFigures(
              spread(own.get("forward")),
              spread(own.get("backward")),
              spread(own.get("input")),
              spread(own.get("weight")),
              spread(own.get("update")),
              own.get("kept").asLong(),
              own.get("output").asLong(),
              own.get("parameters").asLong()));
    }
    return new LayersReport(
        object.get("samples").asInt(),
        object.get("workers").asInt(),
        new Overhead(
            overhead.get(0).asDouble(),
            overhead.get(1).asDouble(),
            overhead.get(2).asDouble(),
            overhead.get(3).asDouble()),
        object.get("flops").asDouble(),
        object.get("bytes_per_s").asDouble(),
        object.get("read").asDouble(),
        object.get("loss").asDouble(),
        layers);
  }

  private static Spread spread(JsonNode array) {
    return new Spread(array.get(0).asDouble(), array.get(1).asDouble(), array.get(2).asDouble());
  }
}
