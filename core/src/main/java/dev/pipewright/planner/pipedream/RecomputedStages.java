package dev.pipewright.planner.pipedream;

import dev.pipewright.cost.AsynchronousCosts;
import dev.pipewright.cost.StageCost.StageMemory;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.plan.AsynchronousPlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import java.util.ArrayList;
import java.util.List;

/**
 * Lets stages of an asynchronous plan that do not fit hold their inputs alone and run again, which
 * PipeDream's optimizer does not know of: layers and devices stay as it chose them.
 */
public final class RecomputedStages {
  private RecomputedStages() {}

  /** The plan with those stages recomputing for which that is enough; the same where none are. */
  public static AsynchronousPlan where(StageCosts costs, AsynchronousPlan plan) {
    List<StageMemory> kept = new AsynchronousCosts(costs, plan).memory();
    AsynchronousPlan everywhere = everywhere(plan);
    List<StageMemory> recomputed = new AsynchronousCosts(costs, everywhere).memory();
    List<StagePlan> all = everywhere.stages();
    List<StagePlan> chosen = new ArrayList<>();
    for (int stage = 0; stage < all.size(); stage++) {
      boolean helps = !kept.get(stage).fits() && recomputed.get(stage).fits();
      chosen.add(helps ? all.get(stage) : plan.stages().get(stage));
    }
    return chosen.equals(plan.stages()) ? plan : with(plan, chosen);
  }

  /** The plan with all stages recomputing. */
  public static AsynchronousPlan everywhere(AsynchronousPlan plan) {
    return with(
        plan, plan.stages().stream().map(stage -> stage.with(Recompute.STAGE_INPUT)).toList());
  }

  private static AsynchronousPlan with(AsynchronousPlan plan, List<StagePlan> stages) {
    return new AsynchronousPlan(
        plan.rule(), plan.microBatches(), plan.microBatch(), plan.replicas(), stages);
  }
}
