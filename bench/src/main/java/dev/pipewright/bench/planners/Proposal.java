package dev.pipewright.bench.planners;

import dev.pipewright.bench.dapple.Table5;
import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.PathFormula;
import dev.pipewright.cost.PipelineOracle;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.schedule.PipelinePolicy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** What a planner proposes: a plan, or the stages of one. */
sealed interface Proposal {
  /** The plan, or the best with the stages; empty where it does not fit. */
  Optional<PipelinePlan> plan(PlannedNetwork network);

  /** All that a synchronous plan says. */
  record Whole(PipelinePlan plan) implements Proposal {
    @Override
    public Optional<PipelinePlan> plan(PlannedNetwork network) {
      return Optional.of(plan);
    }
  }

  /**
   * Stages and their devices: micro-batches, warm-up and recomputation are left open, and chosen in
   * the planner's favour. A single stage overlaps its all-reduce, as data parallelism does.
   *
   * @param firsts the first position of each stage
   * @param devices of each stage
   */
  record Stages(List<Integer> firsts, List<List<Integer>> devices) implements Proposal {
    private static final List<PipelinePolicy> NONE = List.of();

    public Stages {
      firsts = List.copyOf(firsts);
      devices = devices.stream().map(List::copyOf).toList();
    }

    /** Stages of equally many devices, dealt out in order. */
    static Stages of(int[] firsts, int width) {
      List<List<Integer>> devices = new ArrayList<>();
      for (int stage = 0; stage < firsts.length; stage++) {
        devices.add(IntStream.range(stage * width, (stage + 1) * width).boxed().toList());
      }
      return new Stages(Arrays.stream(firsts).boxed().toList(), devices);
    }

    @Override
    public Optional<PipelinePlan> plan(PlannedNetwork network) {
      Oracle prices = new PipelineOracle(network.costs(), new PathFormula());
      Optional<PipelinePlan> best = Optional.empty();
      double least = Double.POSITIVE_INFINITY;
      for (int samples = 1; samples <= network.globalBatch(); samples++) {
        for (PipelinePolicy policy :
            network.globalBatch() % samples == 0 ? Table5.POLICIES : NONE) {
          PipelinePlan plan = keeping(network, samples, policy);
          Assessment priced = prices.assess(plan);
          if (!priced.fits()) {
            plan = recomputing(plan, priced);
            priced = prices.assess(plan);
          }
          if (priced.fits() && priced.stepSeconds() < least) {
            least = priced.stepSeconds();
            best = Optional.of(plan);
          }
        }
      }
      return best;
    }

    private PipelinePlan keeping(PlannedNetwork network, int samples, PipelinePolicy policy) {
      int microBatches = network.globalBatch() / samples;
      List<StagePlan> stages = new ArrayList<>();
      for (int stage = 0; stage < firsts.size(); stage++) {
        boolean last = stage + 1 == firsts.size();
        int end = last ? network.costs().size() : firsts.get(stage + 1);
        int ahead = policy.inFlightOf(firsts.size() - 1 - stage, microBatches);
        stages.add(
            new StagePlan(firsts.get(stage), end - 1, devices.get(stage), Recompute.NONE, ahead));
      }
      boolean data = stages.size() == 1; // which reduces gradients while it computes
      return new PipelinePlan(policy, microBatches, samples, 1, data, stages);
    }

    /** With recomputation in the stages that do not fit. */
    private static PipelinePlan recomputing(PipelinePlan plan, Assessment priced) {
      List<StagePlan> stages = new ArrayList<>();
      for (int s = 0; s < plan.stages().size(); s++) {
        StagePlan stage = plan.stages().get(s);
        boolean fits = priced.stages().get(s).memory().fits();
        stages.add(fits ? stage : stage.with(Recompute.STAGE_INPUT));
      }
      return new PipelinePlan(
          plan.spec(), plan.microBatches(), plan.microBatch(), 1, plan.overlapGradients(), stages);
    }
  }
}
