package dev.pipewright.runtime.profiler;

import dev.pipewright.execution.ProfilingRequest;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.units.Precision;
import dev.pipewright.units.Units;

/** What can be said of a request before anything starts. */
final class RequestCheck {
  private static final long WORKER_BYTES = 300L << 20; // of a process before it has a network

  private RequestCheck() {}

  static void of(ProfilingRequest request, LayerGraph graph) {
    checkRunnable(graph);
    checkBranches(request, graph);
    checkMemory(request, graph);
  }

  private static void checkRunnable(LayerGraph graph) {
    for (Layer layer : graph.layers()) {
      for (Operator step : layer.steps()) {
        if (step instanceof Operator.Block || step instanceof Operator.Recorded) {
          throw new BadInputException(
              "%s cannot be measured: of its layer %s only sizes and times are known; choose a network whose layers say what they compute"
                  .formatted(graph.name(), layer.name()));
        }
      }
      if (layer.output().isEmpty()
          && graph.predecessors(graph.layers().indexOf(layer)).length == 0) {
        throw new BadInputException(
            "%s cannot be measured: the shape of what its layer %s reads is not known; give output_shape in its file"
                .formatted(graph.name(), layer.name()));
      }
    }
  }

  private static void checkBranches(ProfilingRequest request, LayerGraph graph) {
    if (request.memoryDevices().isPresent() && !Chain.of(graph).total()) {
      throw new BadInputException(
          "--memory-metrics: %s has branches that cannot be cut between any two layers; measure a network that is a chain"
              .formatted(graph.name()));
    }
  }

  /**
   * Checks memory by the graph's own sizes; a network and its twin are in memory at different
   * times.
   */
  private static void checkMemory(ProfilingRequest request, LayerGraph graph) {
    double perSample = 0;
    double parameters = 0;
    for (Layer layer : graph.layers()) {
      perSample += (double) (layer.keptElements() + layer.outputElements()) * Float.BYTES;
      parameters += layer.parameters();
    }
    int largest = request.batches().get(request.batches().size() - 1);
    double needed =
        WORKER_BYTES
            + parameters * request.optimizer().bytesPerParameter(Precision.FP32)
            + perSample * largest;
    needed *= request.workers();
    long available = Machine.availableMemory();
    if (needed > available) {
      throw new BadInputException(
          "%s at batch %d needs about %s of memory, and %s are free; take smaller --batches or a smaller network"
              .formatted(
                  graph.name(),
                  largest,
                  Units.binary(needed, "B"),
                  Units.binary((double) available, "B")));
    }
  }
}
