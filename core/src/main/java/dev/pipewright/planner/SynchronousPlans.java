package dev.pipewright.planner;

import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.PipelineSearch.Found;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.Planning.Search;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * Trains synchronously on stages that another planner has chosen, so that the partitions of all
 * planners can be compared: layers and devices stay as they are; micro-batches, what is held and
 * what is computed again follow from memory.
 */
public final class SynchronousPlans {
  /** Plans that the deciding oracle sees. */
  private static final int BEST_FEW = 8;

  private final StageCosts costs;
  private final List<StagePlan> stages;
  private final int copies;
  private final Request request;
  private final Drafts drafts;

  private SynchronousPlans(StageCosts costs, List<StagePlan> stages, int copies, Request request) {
    this.costs = costs;
    this.stages = stages;
    this.copies = copies;
    this.request = request;
    this.drafts =
        new Drafts(
            costs,
            costs,
            SelectiveRecomputation.of(costs, costs, request.recomputation()),
            request.recomputation());
  }

  /**
   * One plan with 1F1B; it may not fit, as its assessment says. Stages recompute as little as
   * memory demands.
   *
   * @param stages of which only layers and devices count; a stage's devices share each micro-batch
   * @param microBatch samples; it divides the global batch
   */
  public static PipelinePlan of(
      StageCosts costs, List<StagePlan> stages, int globalBatch, int microBatch) {
    Check.that(
        microBatch >= 1 && globalBatch % microBatch == 0,
        "the global batch must be a multiple of the micro-batch: global_batch=%d, micro_batch=%d",
        globalBatch,
        microBatch);
    SynchronousPlans plans = new SynchronousPlans(costs, stages, 1, Request.of(globalBatch));
    return plans.plan(PipelinePolicy.A, microBatch);
  }

  /**
   * The best schedule and micro-batch for the stages, of those that a request allows; without a
   * best where none fits.
   *
   * @param planner who chose the stages
   * @param copies of the pipeline, which divide every stage's devices and the global batch
   * @param decides chooses among the best few; a simulator
   * @param stop asked before each whether to leave it at that
   */
  public static Planning best(
      String planner,
      StageCosts costs,
      List<StagePlan> stages,
      int copies,
      Request request,
      Oracle decides,
      BooleanSupplier stop) {
    Check.that(
        copies >= 1 && request.globalBatch() % copies == 0,
        "copies of the pipeline share the global batch: global_batch=%d, copies=%d",
        request.globalBatch(),
        copies);
    return new SynchronousPlans(costs, stages, copies, request).planning(planner, decides, stop);
  }

  /**
   * The memory per device with which the stages would fit, each holding as little as its schedule
   * allows.
   */
  static double leastBytes(StageCosts costs, List<StagePlan> stages, int copies, Request request) {
    boolean all = request.policies().equals(List.of(PipelinePolicy.ALL));
    int samples = request.microBatch().orElse(1) * copies;
    int inFlight = all ? request.globalBatch() / samples : 1;
    double most = 0;
    for (StagePlan stage : stages) {
      int first = stage.firstLayer();
      int end = stage.lastLayer() + 1;
      int slice = StageCosts.slice(samples, stage.replicas());
      double kept = inFlight * costs.heldBytes(first, end, slice);
      double again =
          inFlight * costs.inputBytes(first, slice)
              + request
                  .recomputation()
                  .beyondInputs(costs.recomputedBytes(first, end, slice), inFlight);
      double held =
          switch (request.recomputation()) {
            case NEVER -> kept;
            case ALWAYS, ALWAYS_EXCEPT_LAST -> again;
            default -> Math.min(kept, again);
          };
      most = Math.max(most, costs.staticBytes(first, end) + costs.workingBytes(slice) + held);
    }
    return most;
  }

  private Planning planning(String planner, Oracle decides, BooleanSupplier stop) {
    Oracle estimates = request.costModel().oracle(costs, request.globalBatch());
    List<Candidate> candidates = new ArrayList<>();
    boolean complete = true;
    for (int microBatch : microBatches()) {
      complete &= candidates.isEmpty() || !stop.getAsBoolean();
      if (complete) {
        for (PipelinePolicy policy : request.policies()) {
          PipelinePlan plan = plan(policy, microBatch);
          Candidate candidate = Decision.estimated(plan, estimates);
          if (candidate.estimate().fits()) {
            candidates.add(candidate);
          }
        }
      }
    }
    int tried = candidates.size();
    candidates.sort(Comparator.comparingDouble(Candidate::seconds));
    List<Candidate> decided = new ArrayList<>();
    for (Candidate candidate : candidates.subList(0, Math.min(BEST_FEW, tried))) {
      decided.add(candidate.simulated(decides.assess(candidate.plan())));
    }
    decided.sort(Comparator.comparingDouble(Candidate::seconds));
    boolean fits = !decided.isEmpty();
    return new Planning(
        planner,
        request.costModel().word(),
        fits ? Optional.of(decided.get(0)) : Optional.empty(),
        decided,
        LowerBounds.best(costs, request.globalBatch(), request.costModel()),
        fits ? Binding.of(decided.get(0)) : "memory",
        LowerBounds.oneDeviceSeconds(costs, request.globalBatch(), request.costModel()),
        new Search(complete, tried, "micro-batches and schedules of given stages"));
  }

  /** Samples of a micro-batch of one copy. */
  private List<Integer> microBatches() {
    int samples = request.globalBatch() / copies;
    boolean truncates = request.costModel() == CostModel.DAPPLE_REPO;
    List<Integer> sizes = new ArrayList<>();
    for (int size = 1; size <= samples && !stages.isEmpty(); size++) {
      boolean wanted = request.microBatch().isEmpty() || request.microBatch().getAsInt() == size;
      if (wanted && (truncates || samples % size == 0)) {
        sizes.add(size);
      }
    }
    return sizes;
  }

  private PipelinePlan plan(PipelinePolicy policy, int microBatch) {
    MicroBatching microBatching =
        new MicroBatching(copies, microBatch, request.globalBatch() / copies / microBatch);
    int count = stages.size();
    int[] firsts = new int[count];
    boolean[] again = new boolean[count];
    List<List<Integer>> devices = new ArrayList<>();
    for (int s = 0; s < count; s++) {
      StagePlan stage = stages.get(s);
      firsts[s] = stage.firstLayer();
      devices.add(stage.devices());
      int wanted = policy.inFlightOf(count - 1 - s, microBatching.microBatches());
      int end = stage.lastLayer() + 1;
      again[s] =
          switch (request.recomputation()) {
            case NEVER -> false;
            case ALWAYS, ALWAYS_EXCEPT_LAST -> true;
            default ->
                drafts.room(firsts[s], end, Recompute.NONE, microBatching, stage.devices(), wanted)
                    < wanted;
          };
    }
    return drafts.plan(microBatching, policy, new Found(0, firsts, devices, again));
  }
}
