package dev.pipewright.runtime.profiler;

import dev.pipewright.model.LayerGraph;
import dev.pipewright.profile.LayerMemory;
import dev.pipewright.runtime.data.Dataset;
import dev.pipewright.runtime.data.DatasetRequirements;
import dev.pipewright.runtime.data.DatasetSpec;
import dev.pipewright.runtime.launch.Reporter;
import dev.pipewright.runtime.launch.WorkerTask;
import dev.pipewright.runtime.net.LossFunction;
import dev.pipewright.runtime.training.RunnableModel;
import dev.pipewright.runtime.transport.Transport;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;

/** Measures what layers need while they compute; to be run in a frugal process. */
public final class NeedsTask implements WorkerTask {
  private static final JsonMapper JSON = new JsonMapper();

  @Override
  public void run(String text, Transport transport, Reporter reporter) {
    measure(LayersJob.parse(text), memory -> reporter.event(text(memory)));
  }

  /** Hears of each size of batch. */
  interface Answer {
    void of(List<LayerMemory> memory);
  }

  /** Measures in this process. */
  static void measure(LayersJob job, Answer answer) {
    LayerGraph graph = RunnableModel.of(job.model(), job.sequence());
    LossFunction objective = LossFunction.of(graph);
    Dataset samples =
        DatasetSpec.parse(job.data()).open(DatasetRequirements.of(graph, objective)).training();
    Layers layers = LayersTask.layers(graph);
    for (int batch : job.batches()) {
      answer.of(
          LayerNeeds.measure(
              layers, objective, LayersTask.reader(samples, batch), Stopwatch.bytes()));
    }
  }

  private static String text(List<LayerMemory> memory) {
    ArrayNode array = JSON.createArrayNode();
    for (LayerMemory layer : memory) {
      array
          .addArray()
          .add(layer.forward())
          .add(layer.backward())
          .add(layer.splitKept())
          .add(layer.deferred());
    }
    return array.toString();
  }

  /** What it has answered for one size of batch. */
  static List<LayerMemory> parse(String text) {
    List<LayerMemory> memory = new ArrayList<>();
    for (JsonNode layer : JSON.readTree(text)) {
      memory.add(
          new LayerMemory(
              layer.get(0).asDouble(),
              layer.get(1).asDouble(),
              layer.get(2).asDouble(),
              layer.get(3).asDouble()));
    }
    return memory;
  }
}
