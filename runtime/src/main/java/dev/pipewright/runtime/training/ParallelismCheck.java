package dev.pipewright.runtime.training;

import dev.pipewright.execution.TrainingRequest;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.ParallelismLimits;
import dev.pipewright.runtime.net.Computable;
import java.util.List;

/** Checks the intra-layer parallelism of a run before it starts. */
final class ParallelismCheck {
  private ParallelismCheck() {}

  /** Throws where a layer cannot be split so far. */
  static void of(TrainingRequest request, LayerGraph graph) {
    ParallelismLimits limits = new ParallelismLimits(graph);
    List<StageLayers> stages = request.assignment().stages();
    Parallelism first = stages.get(0).split();
    boolean nested = stages.stream().anyMatch(stage -> stage.split().nested());
    for (int stage = 1; nested && stage < stages.size(); stage++) {
      Parallelism own = stages.get(stage).split();
      if (!own.equals(first)) {
        throw new BadInputException(
            "stages 0 and %d divide layers by %s and %s, between which the runtime does not redistribute tokens; give all stages the same parallelism"
                .formatted(stage, first, own));
      }
    }
    if (nested && !request.assignment().dividesAlike()) {
      throw new BadInputException(
          "stages with different numbers of workers divide layers by %s, between which the runtime does not redistribute samples; give all stages as many workers"
              .formatted(first));
    }
    for (StageLayers stage : stages) {
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
