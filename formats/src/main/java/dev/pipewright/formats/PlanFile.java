package dev.pipewright.formats;

import dev.pipewright.plan.Plan;
import java.util.Optional;

/**
 * A plan and what it was made for, as far as the file says it.
 *
 * @param costModel what priced it
 * @param figures that the file states of it
 */
public record PlanFile(Plan plan, MadeFor madeFor, Optional<String> costModel, PlanFigures figures)
    implements ReadPlan {
  /** A plan to be written, whose figures its reader counts. */
  public PlanFile(Plan plan, MadeFor madeFor, Optional<String> costModel) {
    this(plan, madeFor, costModel, PlanFigures.NONE);
  }
}
