package dev.pipewright.runtime.training;

import dev.pipewright.execution.TrainingRequest;
import dev.pipewright.formats.BadInputException;
import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Flow;
import dev.pipewright.runtime.net.Network;
import dev.pipewright.runtime.net.Tied;

/** What steps that flow ask of a run, said before it starts. */
final class FlowCheck {
  private FlowCheck() {}

  /**
   * Throws {@link BadInputException} where a run cannot be made of such steps.
   *
   * @param first step of the run
   */
  static void check(TrainingRequest request, LayerGraph graph, long first) {
    request.assignment().flow().ifPresent(flow -> check(request, flow, graph, first));
  }

  private static void check(TrainingRequest request, Flow flow, LayerGraph graph, long first) {
    rounds("--steps", request.steps(), flow);
    rounds("--resume", first, flow);
    rounds("--evaluate-every", request.evaluateEvery(), flow);
    rounds("--checkpoint-every", request.keeping().checkpointEvery(), flow);
    tied(request.assignment(), flow, graph);
  }

  private static void rounds(String flag, long steps, Flow flow) {
    if (steps % flow.round() != 0) {
      throw new BadInputException(
          "%s: replicas have all had their turn after every %d steps, not after %d; take %d"
              .formatted(flag, flow.round(), steps, (steps / flow.round() + 1) * flow.round()));
    }
  }

  /** Stages are updated each at its own time, so what is one parameter must be in one stage. */
  private static void tied(Assignment assignment, Flow flow, LayerGraph graph) {
    Network network = new Network(Chain.of(graph), 0);
    for (Tied tied : network.tied()) {
      int original = stage(assignment, network, tied.layer());
      int copy = stage(assignment, network, tied.copyLayer());
      if (original != copy) {
        throw new BadInputException(
            ("--schedule: %s is %s too, in stages %d and %d, which %s updates at different times;"
                    + " take a schedule whose steps end, or a network where they are two, like"
                    + " gpt-untied:…")
                .formatted(tied.parameter(), tied.copy(), original, copy, flow.name()));
      }
    }
  }

  private static int stage(Assignment assignment, Network network, int layer) {
    int depth = 0;
    for (var stage : assignment.stages()) {
      if (network.part(stage.range().first(), stage.range().last()).contains(layer)) {
        return depth;
      }
      depth++;
    }
    throw new IllegalStateException("a layer of no stage: " + layer);
  }
}
