package dev.pipewright.formats;

import dev.pipewright.plan.Plan;
import dev.pipewright.planner.pipedream.BandwidthLevel;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * A plan and what it was made for, as far as the file says it.
 *
 * @param <P> the kind of plan
 * @param costModel what priced it
 * @param figures that the file states of it
 * @param objective seconds that its planner expects, of a step, a mini-batch or an update
 * @param levels of the cluster, innermost first; none where the file names none
 * @param contiguous whether the file says that every device has one stage
 */
public record PlanFile<P extends Plan>(
    P plan,
    MadeFor madeFor,
    Optional<String> costModel,
    PlanFigures figures,
    OptionalDouble objective,
    List<BandwidthLevel> levels,
    Optional<Boolean> contiguous) {
  public PlanFile {
    levels = List.copyOf(levels);
  }

  /** A plan with what its file says of it. */
  PlanFile(P plan, MadeFor madeFor, PlanFigures figures, OptionalDouble objective) {
    this(plan, madeFor, Optional.empty(), figures, objective, List.of(), Optional.empty());
  }

  /** A plan to be written, whose figures its reader counts. */
  public PlanFile(P plan, MadeFor madeFor, Optional<String> costModel) {
    this(
        plan,
        madeFor,
        costModel,
        PlanFigures.NONE,
        OptionalDouble.empty(),
        List.of(),
        Optional.empty());
  }

  /** The same with the plan of a kind that is known. */
  public <Q extends Plan> PlanFile<Q> of(Q known) {
    return new PlanFile<>(known, madeFor, costModel, figures, objective, levels, contiguous);
  }
}
