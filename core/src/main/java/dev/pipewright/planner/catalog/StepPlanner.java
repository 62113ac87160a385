package dev.pipewright.planner.catalog;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Remedy;
import dev.pipewright.planner.Request;
import dev.pipewright.planner.Request.Shape;
import dev.pipewright.planner.memory.LayerPeaks;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.schedule.PipelinePolicy;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * Plans steps of synchronous training.
 *
 * @param shape which plans it considers
 * @param policies the schedules that it tries unless the user names one
 * @param schedules which schedules the user may name
 * @param proves whether it goes on until the best plan is proven
 * @param byLayers how it recomputes unless the user says, where it chooses layer by layer; empty
 *     where it follows every {@link Recomputation}
 * @param search how it plans
 * @param peaks how it plans for measured peaks of layers, where it can
 * @param remedy why there is no plan
 */
public record StepPlanner(
    Shape shape,
    List<PipelinePolicy> policies,
    Schedules schedules,
    boolean proves,
    Optional<Recomputation> byLayers,
    Search search,
    Optional<PeakSearch> peaks,
    Reason remedy)
    implements PlannerMethod {
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

  /** How a planner plans for peaks that were measured, without times. */
  @FunctionalInterface
  public interface PeakSearch {
    /**
     * Plans.
     *
     * @param stages of the pipeline, one on each device
     */
    Planning plan(LayerPeaks peaks, Cluster cluster, int stages, BooleanSupplier stop);
  }

  /** Why a planner finds nothing. */
  @FunctionalInterface
  public interface Reason {
    /** In words for the user, with what would help; the planning has no best plan. */
    String sentence(StageCosts costs, Request request, Planning planning);
  }

  public StepPlanner {
    policies = List.copyOf(policies);
  }

  /** A planner of all shapes that tries both variants of 1F1B. */
  public static StepPlanner of(Search search) {
    return new StepPlanner(
        Shape.ANY,
        List.of(PipelinePolicy.A, PipelinePolicy.B),
        Schedules.POLICIES,
        false,
        Optional.empty(),
        search,
        Optional.empty(),
        (costs, request, planning) -> Remedy.sentence(costs, request));
  }

  /** The same for some shapes only. */
  public StepPlanner only(Shape other) {
    return new StepPlanner(other, policies, schedules, proves, byLayers, search, peaks, remedy);
  }

  /** The same that tries one schedule unless the user names another. */
  public StepPlanner trying(PipelinePolicy policy) {
    return new StepPlanner(
        shape, List.of(policy), schedules, proves, byLayers, search, peaks, remedy);
  }

  /** The same for other schedules. */
  public StepPlanner with(Schedules other) {
    return new StepPlanner(shape, policies, other, proves, byLayers, search, peaks, remedy);
  }

  /** The same that proves its answer. */
  public StepPlanner proving() {
    return new StepPlanner(shape, policies, schedules, true, byLayers, search, peaks, remedy);
  }

  /** The same that chooses layer by layer what to recompute, and so unless the user says. */
  public StepPlanner recomputing(Recomputation unlessTheUserSays) {
    return new StepPlanner(
        shape, policies, schedules, proves, Optional.of(unlessTheUserSays), search, peaks, remedy);
  }

  /** The same that can also plan for measured peaks. */
  public StepPlanner ofPeaks(PeakSearch other) {
    return new StepPlanner(
        shape, policies, schedules, proves, byLayers, search, Optional.of(other), remedy);
  }

  /** The same with a reason of its own where it finds nothing. */
  public StepPlanner because(Reason reason) {
    return new StepPlanner(shape, policies, schedules, proves, byLayers, search, peaks, reason);
  }
}
