package dev.pipewright.planner.catalog;

/**
 * A flag of {@code plan} that several planners support and others do not. What a single planner
 * declares for itself is a {@link dev.pipewright.planner.PlannerFlag}.
 */
public enum PlannerOption {
  LEVELS("--levels"),
  BANDWIDTHS("--bandwidths"),
  COST_MODEL("--cost-model"),
  EVALUATE("--evaluate"),
  AGAINST("--against"),
  WHAT_IF("--what-if"),
  MICRO_BATCH("--micro-batch"),
  SCHEDULE("--schedule"),
  CHUNKS("--chunks"),
  RECOMPUTE("--recompute"),
  STAGES("--stages");

  private final String flag;

  PlannerOption(String flag) {
    this.flag = flag;
  }

  /** As users write it. */
  public String flag() {
    return flag;
  }
}
