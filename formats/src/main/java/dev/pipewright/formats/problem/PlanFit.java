package dev.pipewright.formats.problem;

import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.StagePlan;
import java.util.ArrayList;
import java.util.List;

/** Whether a plan is for the model and cluster that it is to run on. */
public final class PlanFit {
  private PlanFit() {}

  /** What does not belong: place, value, remedy. */
  public static List<String> problems(PipelinePlan plan, Costed costed) {
    return problems(plan.stages(), costed);
  }

  /** The same for the stages of any plan. */
  public static List<String> problems(List<StagePlan> stages, Costed costed) {
    List<String> problems = new ArrayList<>();
    int layers = costed.costs().size();
    int devices = costed.workload().cluster().size();
    int last = stages.size() - 1;
    for (int i = 0; i <= last; i++) {
      StagePlan stage = stages.get(i);
      if (stage.lastLayer() >= layers) {
        problems.add(
            "stages[%d].layers ends at %d but %s has layers 0..%d; end the last stage at %d"
                .formatted(i, stage.lastLayer(), costed.model(), layers - 1, layers - 1));
      } else if (i == last && stage.lastLayer() < layers - 1) {
        problems.add(
            "stages[%d].layers, the last, ends at %d but %s has layers 0..%d; add stages or end it at %d"
                .formatted(i, stage.lastLayer(), costed.model(), layers - 1, layers - 1));
      } else if (!costed.costs().isStage(stage.firstLayer(), stage.lastLayer() + 1)) {
        problems.add(
            "stages[%d].layers begins at %d, where branches of %s run side by side; begin it elsewhere"
                .formatted(i, stage.firstLayer(), costed.model()));
      }
      for (int device : stage.devices()) {
        if (device >= devices) {
          problems.add(
              "stages[%d].devices names %d but %s has devices 0..%d; name one of those"
                  .formatted(i, device, costed.workload().cluster().name(), devices - 1));
          break;
        }
      }
    }
    return problems;
  }
}
