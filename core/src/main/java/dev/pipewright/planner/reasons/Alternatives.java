package dev.pipewright.planner.reasons;

import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.plan.ParallelismLimits;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.Request;
import dev.pipewright.planner.SelectiveRecomputation;
import dev.pipewright.planner.partition.BlockPartition;
import dev.pipewright.schedule.PipelinePolicy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The plans that people would write down by hand for the same step, each with the micro-batch that
 * suits it best, on all devices of the cluster:
 *
 * <ul>
 *   <li>data parallelism: every device has the network;
 *   <li>an even pipeline: as many stages as there are devices or layers, one replica of each;
 *   <li>for transformers, tensor parallelism within a machine, as few pipeline stages as fit, and
 *       data parallelism with ZeRO 1 over the rest (D. Narayanan et al., <i>Efficient large-scale
 *       language model training on GPU clusters using Megatron-LM</i>, SC 2021, §5.3, takeaways 1
 *       to 3).
 * </ul>
 */
public final class Alternatives {
  private final StageCosts costs;
  private final Request request;
  private final Oracle estimates;
  private final Oracle decides;
  private final Optional<SelectiveRecomputation> fewer;
  private final int devices;
  private final int[] cuts; // positions where stages may begin, and the end
  private final double[] work; // seconds of a sample from each to the next

  private Alternatives(StageCosts costs, Request request, Oracle decides) {
    this.costs = costs;
    this.request = request;
    this.estimates = CostModel.PIPEWRIGHT.oracle(costs);
    this.decides = decides;
    this.fewer = SelectiveRecomputation.of(costs, costs, request.recomputation());
    this.devices = costs.workload().cluster().size();
    double[] until = costs.cheapestSecondsPerSample(1);
    this.cuts =
        IntStream.rangeClosed(0, costs.size())
            .filter(at -> at == 0 || at == costs.size() || isCut(at))
            .toArray();
    this.work = new double[cuts.length - 1];
    Arrays.setAll(work, part -> Math.max(0, until[cuts[part + 1]] - until[cuts[part]]));
  }

  /**
   * Each against the chosen plan; those that are that plan, or that cannot be built for the network
   * and the batch, are left out. A plan that does not fit is compared all the same.
   *
   * @param decides the oracle that chose the plan; a simulator
   */
  public static List<PlanComparison> of(
      StageCosts costs, Request request, Oracle decides, Candidate chosen) {
    return new Alternatives(costs, request, decides).against(chosen);
  }

  /** One plan against the chosen one. */
  public static PlanComparison of(
      String name, StageCosts costs, Candidate other, Candidate chosen) {
    Oracle estimates = CostModel.PIPEWRIGHT.oracle(costs);
    return new PlanComparison(
        name,
        other,
        StepParts.of(other, estimates),
        StepParts.of(chosen, estimates),
        chosen.seconds());
  }

  private List<PlanComparison> against(Candidate chosen) {
    List<PlanComparison> found = new ArrayList<>();
    List<Named> all = new ArrayList<>();
    dataParallel().ifPresent(plan -> all.add(new Named("data parallelism", plan)));
    even().ifPresent(plan -> all.add(new Named("an even pipeline", plan)));
    usual().ifPresent(plan -> all.add(new Named("the usual layout of transformers", plan)));
    for (Named one : all) {
      if (!one.plan().plan().stages().equals(chosen.plan().stages())) {
        found.add(of(one.name(), costs, one.plan(), chosen));
      }
    }
    return found;
  }

  private boolean isCut(int at) {
    return costs.isStage(0, at) && costs.isStage(at, costs.size());
  }

  private record Named(String name, Candidate plan) {}

  private Optional<Candidate> dataParallel() {
    return devices == 1
        ? Optional.empty()
        : best(new Layout(1, Parallelism.NONE, ZeroStage.NOTHING));
  }

  private Optional<Candidate> even() {
    int stages = Math.min(devices, work.length);
    while (stages > 1 && devices % stages != 0) {
      stages--;
    }
    return stages == 1
        ? Optional.empty()
        : best(new Layout(stages, Parallelism.NONE, ZeroStage.NOTHING));
  }

  private Optional<Candidate> usual() {
    int machine = costs.workload().cluster().groups().get(0).get(0);
    ParallelismLimits limits = new ParallelismLimits(costs.workload().chain().graph());
    int parts = machine;
    while (parts > 1 && !divides(parts, limits)) {
      parts--;
    }
    Optional<Candidate> found = Optional.empty();
    if (parts == 1) {
      return found;
    }
    Parallelism tensor = Parallelism.of(Kind.SEQUENCE, parts);
    int groups = devices / parts;
    for (int stages = 1; stages <= groups; stages++) {
      if (groups % stages == 0 && found.filter(plan -> plan.estimate().fits()).isEmpty()) {
        ZeroStage sharding = stages < groups ? ZeroStage.OPTIMIZER : ZeroStage.NOTHING;
        Optional<Candidate> next = best(new Layout(stages, tensor, sharding));
        found = next.isPresent() ? next : found;
      }
    }
    return found;
  }

  private boolean divides(int parts, ParallelismLimits limits) {
    return devices % parts == 0
        && limits.tensorParallel(parts).kind() == Kind.TENSOR
        && limits.refusal(Parallelism.of(Kind.SEQUENCE, parts)).isEmpty();
  }

  private record Layout(int stages, Parallelism parallelism, ZeroStage sharding) {}

  /**
   * The fastest micro-batch that fits, with or without recomputation of what memory demands; the
   * one with the least memory where none does.
   */
  private Optional<Candidate> best(Layout layout) {
    List<Candidate> all = new ArrayList<>();
    int replicas = devices / layout.stages() / layout.parallelism().parts();
    for (int samples = replicas; samples <= request.globalBatch(); samples += replicas) {
      if (request.globalBatch() % samples == 0 && request.allowsMicroBatch(samples)) {
        for (Recompute recompute : List.of(Recompute.NONE, Recompute.STAGE_INPUT)) {
          plan(layout, recompute, samples)
              .map(this::relieved)
              .map(this::estimated)
              .ifPresent(all::add);
        }
      }
    }
    Comparator<Candidate> fastest = Comparator.comparingDouble(Candidate::seconds);
    return all.stream()
        .filter(candidate -> candidate.estimate().fits())
        .min(fastest)
        .or(() -> all.stream().min(Comparator.comparingDouble(Candidate::peakBytes)))
        .map(candidate -> candidate.simulated(decides.assess(candidate.plan())));
  }

  /** With fewer layers computed again, where that fits; known for whole layers only. */
  private PipelinePlan relieved(PipelinePlan plan) {
    return plan.dividesLayers() ? plan : fewer.flatMap(some -> some.of(plan)).orElse(plan);
  }

  private Candidate estimated(PipelinePlan plan) {
    return new Candidate(plan.kind(), plan, estimates.assess(plan), Optional.empty());
  }

  /** Empty where the network cannot be cut so. */
  private Optional<PipelinePlan> plan(Layout layout, Recompute recompute, int samples) {
    int stages = layout.stages();
    int each = devices / stages;
    int microBatches = request.globalBatch() / samples;
    if (stages > work.length) {
      return Optional.empty();
    }
    int[] parts = BlockPartition.firsts(work, stages);
    List<StagePlan> cut = new ArrayList<>();
    for (int stage = 0; stage < stages; stage++) {
      int first = cuts[parts[stage]];
      int end = stage == stages - 1 ? costs.size() : cuts[parts[stage + 1]];
      if (!costs.isStage(first, end)) {
        return Optional.empty();
      }
      List<Integer> on = IntStream.range(stage * each, (stage + 1) * each).boxed().toList();
      int inFlight = PipelinePolicy.A.inFlightOf(stages - 1 - stage, microBatches);
      cut.add(new StagePlan(first, end - 1, on, recompute, inFlight).with(layout.parallelism()));
    }
    boolean overlap = stages == 1;
    return Optional.of(
        new PipelinePlan(PipelinePolicy.A, microBatches, samples, 1, overlap, cut)
            .with(layout.sharding()));
  }
}
