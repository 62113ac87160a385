package dev.pipewright.planner.catalog;

import dev.pipewright.planner.Objective;
import dev.pipewright.planner.PlannerFlag;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A planner of the catalogue.
 *
 * @param name as users write it
 * @param words what it plans, for the help text
 * @param objective what it makes small
 * @param options the flags that only some planners support, of which it is one
 * @param flags that it alone has
 * @param method how it plans
 */
public record PlannerEntry(
    String name,
    String words,
    Objective objective,
    Set<PlannerOption> options,
    List<PlannerFlag> flags,
    PlannerMethod method) {
  public PlannerEntry {
    options = Set.copyOf(options);
    flags = List.copyOf(flags);
  }

  /** A planner that makes the step short. */
  static PlannerEntry time(String name, String words, StepPlanner method) {
    return step(name, words, Objective.STEP_TIME, method)
        .and(
            PlannerOption.COST_MODEL,
            PlannerOption.EVALUATE,
            PlannerOption.AGAINST,
            PlannerOption.WHAT_IF);
  }

  /** A planner that makes the peak of the fullest device small. */
  public static PlannerEntry memory(String name, String words, StepPlanner method) {
    return step(name, words, Objective.PEAK_MEMORY, method);
  }

  private static PlannerEntry step(
      String name, String words, Objective objective, StepPlanner method) {
    Set<PlannerOption> options =
        EnumSet.of(
            PlannerOption.MICRO_BATCH,
            PlannerOption.SCHEDULE,
            PlannerOption.RECOMPUTE,
            PlannerOption.STAGES);
    if (method.schedules() == StepPlanner.Schedules.ANY) {
      options.add(PlannerOption.CHUNKS);
    }
    return new PlannerEntry(name, words, objective, options, List.of(), method);
  }

  /** A planner that makes mini-batches follow each other fast, without flushes. */
  static PlannerEntry throughput(String name, String words, SteadyPlanner method) {
    return new PlannerEntry(
        name, words, Objective.THROUGHPUT, Set.of(PlannerOption.STAGES), List.of(), method);
  }

  /** The same with more options. */
  PlannerEntry and(PlannerOption... more) {
    Set<PlannerOption> all = EnumSet.noneOf(PlannerOption.class);
    all.addAll(options);
    all.addAll(Set.of(more));
    return new PlannerEntry(name, words, objective, all, flags, method);
  }

  /** The same with flags of its own. */
  public PlannerEntry with(List<PlannerFlag> own) {
    return new PlannerEntry(name, words, objective, options, own, method);
  }

  /** How it plans steps; empty where it does not. */
  public Optional<StepPlanner> steps() {
    return method instanceof StepPlanner step ? Optional.of(step) : Optional.empty();
  }
}
