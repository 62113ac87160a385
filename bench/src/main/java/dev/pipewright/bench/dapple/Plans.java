package dev.pipewright.bench.dapple;

import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import java.util.List;
import java.util.stream.Collectors;

/** Plans in a few words. */
public final class Plans {
  private Plans() {}

  /** {@code 8:8 at 30}: devices by stage and the first layer of each stage but the first. */
  public static String words(PipelinePlan plan) {
    List<StagePlan> stages = plan.stages();
    String copies = plan.replicas() > 1 ? ", " + plan.replicas() + " copies" : "";
    if (stages.size() == 1) {
      return "DP" + (plan.overlapGradients() ? " overlapped" : "") + batch(plan) + recompute(plan);
    }
    boolean straight = stages.stream().allMatch(stage -> stage.replicas() == 1);
    if (straight && stages.size() > 4) {
      return "straight ×" + stages.size() + batch(plan) + recompute(plan);
    }
    String sizes =
        stages.stream().map(stage -> "" + stage.replicas()).collect(Collectors.joining(":"));
    String cuts =
        stages.stream()
            .skip(1)
            .map(stage -> "" + stage.firstLayer())
            .collect(Collectors.joining(","));
    return sizes + " at " + cuts + copies + batch(plan) + recompute(plan);
  }

  private static String batch(PipelinePlan plan) {
    return ", " + plan.microBatches() + "×" + plan.microBatch();
  }

  private static String recompute(PipelinePlan plan) {
    long stages =
        plan.stages().stream().filter(stage -> stage.recompute() != Recompute.NONE).count();
    String policy =
        plan.spec().scheduleName().equals("1f1b") ? "" : ", " + plan.spec().scheduleName();
    return (stages > 0 ? ", RC" : "") + policy;
  }
}
