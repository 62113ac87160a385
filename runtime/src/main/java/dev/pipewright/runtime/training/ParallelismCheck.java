package dev.pipewright.runtime.training;

import dev.pipewright.execution.TrainingRequest;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.ParallelismLimits;
import dev.pipewright.runtime.net.Computable;

/** Checks the intra-layer parallelism of a run before it starts. */
final class ParallelismCheck {
  private ParallelismCheck() {}

  /** Throws where a layer cannot be split so far. */
  static void of(TrainingRequest request, LayerGraph graph) {
    ParallelismLimits limits = new ParallelismLimits(graph);
    for (StageLayers stage : request.assignment().stages()) {
      limits
          .refusal(stage.split())
          .or(() -> Computable.refusal(graph, stage.split()))
          .ifPresent(why -> {
            boolean spatial = stage.split().kind() == Parallelism.Kind.SPATIAL;
            String option = spatial ? "--spatial-parallel: " : "--tensor-parallel: ";
            throw new BadInputException(option + why);
          });
    }
  }
}
