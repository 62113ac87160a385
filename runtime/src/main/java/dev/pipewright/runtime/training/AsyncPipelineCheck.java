package dev.pipewright.runtime.training;

import dev.pipewright.exchange.TiedStages;
import dev.pipewright.execution.TrainingRequest;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.AsyncPipeline;

/** Checks what an asynchronous pipeline asks of a run before it starts. */
final class AsyncPipelineCheck {
  private AsyncPipelineCheck() {}

  /**
   * Throws {@link BadInputException} where a run cannot be made of such steps.
   *
   * @param first step of the run
   */
  static void check(TrainingRequest request, LayerGraph graph, long first) {
    request
        .assignment()
        .asyncPipeline()
        .ifPresent(asyncPipeline -> check(request, asyncPipeline, graph, first));
  }

  private static void check(
      TrainingRequest request, AsyncPipeline asyncPipeline, LayerGraph graph, long first) {
    rounds("--steps", request.learning().steps(), asyncPipeline);
    rounds("--resume", first, asyncPipeline);
    rounds("--evaluate-every", request.learning().evaluateEvery(), asyncPipeline);
    rounds("--checkpoint-every", request.keeping().checkpointEvery(), asyncPipeline);
    tied(request.assignment(), asyncPipeline, graph);
  }

  private static void rounds(String flag, long steps, AsyncPipeline asyncPipeline) {
    if (steps % asyncPipeline.round() != 0) {
      throw new BadInputException(
          "%s: replicas have all had their turn after every %d steps, not after %d; take %d"
              .formatted(
                  flag,
                  asyncPipeline.round(),
                  steps,
                  (steps / asyncPipeline.round() + 1) * asyncPipeline.round()));
    }
  }

  /** What is one parameter in two stages is learnt by both only where each has its partner. */
  private static void tied(Assignment assignment, AsyncPipeline asyncPipeline, LayerGraph graph) {
    for (TiedStages stages : TiedStages.of(assignment, Chain.of(graph))) {
      stages
          .refusal(asyncPipeline)
          .ifPresent(why -> {
            throw new BadInputException(
                ("--schedule: %s reads the table of %s too, in stages %d and %d of %s, %s; take a"
                        + " schedule whose steps end, or a network where they are two, like"
                        + " gpt-untied:…")
                    .formatted(
                        graph.layer(stages.table().copyLayer()).name(),
                        graph.layer(stages.table().layer()).name(),
                        stages.first(),
                        stages.second(),
                        asyncPipeline.name(),
                        why));
          });
    }
  }
}
