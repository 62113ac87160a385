package dev.pipewright.planner.catalog;

/** A flag of {@code plan} that only some planners support. */
public enum PlannerOption {
  LINEARIZE("--linearize"),
  NON_CONTIGUOUS("--non-contiguous"),
  LEVELS("--levels"),
  BANDWIDTHS("--bandwidths"),
  NO_ACTIVATION_TRANSFER("--no-activation-transfer"),
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
