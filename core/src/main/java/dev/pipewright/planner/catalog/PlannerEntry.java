package dev.pipewright.planner.catalog;

import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Remedy;
import dev.pipewright.planner.Request;
import dev.pipewright.planner.Request.Shape;
import dev.pipewright.schedule.PipelinePolicy;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * A planner of the catalogue.
 *
 * @param name as users write it
 * @param shape which plans it considers
 * @param policies the schedules that it tries unless the user names one
 * @param schedules which schedules the user may name
 * @param proves whether it goes on until the best plan is proven
 * @param search how it plans
 * @param remedy why there is no plan
 */
public record PlannerEntry(
    String name,
    Shape shape,
    List<PipelinePolicy> policies,
    Schedules schedules,
    boolean proves,
    Search search,
    Reason remedy) {
  /** Which schedules a planner can be asked for. */
  public enum Schedules {
    /** Those that it tries, and no others. */
    OWN,
    /** Each {@link PipelinePolicy}. */
    POLICIES,
    /** Every synchronous pipeline. */
    ANY
  }

  /** How a planner plans. */
  @FunctionalInterface
  public interface Search {
    /**
     * Plans.
     *
     * @param decides chooses among the best few; a simulator
     * @param stop asked now and then; from the first yes on the best so far counts
     */
    Planning plan(StageCosts costs, Request request, Oracle decides, BooleanSupplier stop);
  }

  /** Why a planner finds nothing. */
  @FunctionalInterface
  public interface Reason {
    /** In words for the user, with what would help. */
    String sentence(StageCosts costs, Request request);
  }

  public PlannerEntry {
    policies = List.copyOf(policies);
  }

  /** A planner of all shapes that tries both variants of 1F1B. */
  static PlannerEntry of(String name, Search search) {
    return new PlannerEntry(
        name,
        Shape.ANY,
        List.of(PipelinePolicy.A, PipelinePolicy.B),
        Schedules.POLICIES,
        false,
        search,
        Remedy::sentence);
  }

  /** The same for some shapes only. */
  PlannerEntry only(Shape other) {
    return new PlannerEntry(name, other, policies, schedules, proves, search, remedy);
  }

  /** The same that tries one schedule unless the user names another. */
  PlannerEntry trying(PipelinePolicy policy) {
    return new PlannerEntry(name, shape, List.of(policy), schedules, proves, search, remedy);
  }

  /** The same for other schedules. */
  PlannerEntry with(Schedules other) {
    return new PlannerEntry(name, shape, policies, other, proves, search, remedy);
  }

  /** The same that proves its answer. */
  PlannerEntry proving() {
    return new PlannerEntry(name, shape, policies, schedules, true, search, remedy);
  }

  /** The same with a reason of its own where it finds nothing. */
  PlannerEntry because(Reason reason) {
    return new PlannerEntry(name, shape, policies, schedules, proves, search, reason);
  }
}
