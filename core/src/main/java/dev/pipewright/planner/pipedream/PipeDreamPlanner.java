package dev.pipewright.planner.pipedream;

import dev.pipewright.cost.StageCosts;
import dev.pipewright.model.Chain;
import dev.pipewright.planner.PlannerFlag;
import dev.pipewright.planner.SearchStoppedException;
import dev.pipewright.planner.SteadyRequest;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.Quantity;
import dev.pipewright.schedule.PipeDream;
import dev.pipewright.units.Check;
import java.util.List;
import java.util.function.BooleanSupplier;

/** PipeDream's optimizer for a priced network and cluster. */
public final class PipeDreamPlanner {
  /** The planner's name. */
  public static final String NAME = PipeDream.NAME;

  private static final PlannerFlag NO_TRANSFER =
      PlannerFlag.of(
          "--no-activation-transfer",
          "charge no activations between stages, as PipeDream's program usually does.");

  /** The flags that only this planner has. */
  public static final List<PlannerFlag> FLAGS = List.of(NO_TRANSFER);

  private PipeDreamPlanner() {}

  /**
   * Plans by the times of whole mini-batches.
   *
   * @param request whose batch is what the profile was measured for where it is empty
   * @throws SearchStoppedException where the search was ended before it found so many stages
   */
  public static PipeDreamPlanning plan(
      StageCosts priced, SteadyRequest request, BooleanSupplier stop) {
    Chain chain = priced.workload().chain();
    Profile profile = priced.workload().profile();
    List<BandwidthLevel> levels = BandwidthLevel.of(priced.workload().cluster());
    Check.that(
        levels.size() == 1 || chain.graph().size() <= PipeDreamOptimizer.MOST_PLACES,
        "the network has %d layers, more than the %d that several levels allow; merge layers into blocks, or plan for one level",
        chain.graph().size(),
        PipeDreamOptimizer.MOST_PLACES);
    int samples = request.samples(priced.workload().profile());
    double[] seconds = profile.seconds(Quantity.BACKWARD, samples);
    double[] forward = profile.seconds(Quantity.FORWARD, samples);
    double[] outputs = profile.outputBytes();
    for (int layer = 0; layer < seconds.length; layer++) {
      seconds[layer] += forward[layer];
      outputs[layer] *= samples;
    }
    CutCosts costs = CutCosts.of(chain, seconds, profile.parameterBytes(), outputs);
    boolean charges = !request.flags().has(NO_TRANSFER);
    return request.stages().isEmpty()
        ? PipeDreamOptimizer.plan(costs, levels, charges, stop)
        : PipeDreamOptimizer.plan(costs, levels, charges, request.stages().getAsInt(), stop)
            .orElseThrow(SearchStoppedException::new);
  }
}
