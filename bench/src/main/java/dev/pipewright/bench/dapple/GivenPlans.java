package dev.pipewright.bench.dapple;

import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.PathFormula;
import dev.pipewright.cost.PipelineOracle;
import dev.pipewright.cost.SimulatedOracle;
import dev.pipewright.cost.StageCost.StageMemory;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.schedule.PipelinePolicy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Plans of which a publication gives cuts and devices only: what it leaves open (micro-batches,
 * warm-up, recomputation) is chosen in their favour.
 */
public final class GivenPlans {
  private final StageCosts costs;
  private final Oracle prices;

  /** A plan with its simulated step. */
  public record Scored(PipelinePlan plan, Assessment simulated) {
    public double seconds() {
      return simulated.stepSeconds();
    }
  }

  public GivenPlans(StageCosts costs) {
    this.costs = costs;
    this.prices = new PipelineOracle(costs, new PathFormula());
  }

  /**
   * The fastest plan that fits with these first layers and these device counts, dealt out in order.
   */
  Optional<Scored> best(int[] firsts, int[] sizes, int globalBatch, List<PipelinePolicy> policies) {
    Optional<Scored> best = Optional.empty();
    for (int microBatch = 1; microBatch <= globalBatch; microBatch++) {
      for (PipelinePolicy policy :
          globalBatch % microBatch == 0 ? policies : List.<PipelinePolicy>of()) {
        Optional<Scored> one = fitting(firsts, sizes, globalBatch / microBatch, microBatch, policy);
        if (one.isPresent() && (best.isEmpty() || one.get().seconds() < best.get().seconds())) {
          best = one;
        }
      }
    }
    return best;
  }

  /** The same with two stages and the cut that suits them best. */
  Optional<Scored> bestCut(int[] sizes, int globalBatch, List<PipelinePolicy> policies) {
    Optional<Scored> best = Optional.empty();
    for (int cut = 1; cut < costs.size(); cut++) {
      if (costs.workload().chain().precedes(cut - 1, costs.size() - 1)) {
        Optional<Scored> one = best(new int[] {0, cut}, sizes, globalBatch, policies);
        if (one.isPresent() && (best.isEmpty() || one.get().seconds() < best.get().seconds())) {
          best = one;
        }
      }
    }
    return best;
  }

  /** The plan with recomputation where memory demands it; empty when that does not help. */
  Optional<Scored> fitting(
      int[] firsts, int[] sizes, int microBatches, int microBatch, PipelinePolicy policy) {
    Recompute[] none = new Recompute[sizes.length];
    Arrays.fill(none, Recompute.NONE);
    PipelinePlan plan = plan(firsts, sizes, microBatches, microBatch, policy, none);
    Assessment priced = prices.assess(plan);
    if (!priced.fits()) {
      Recompute[] some = none.clone();
      for (int s = 0; s < some.length; s++) {
        StageMemory memory = priced.stages().get(s).memory();
        some[s] = memory.fits() ? Recompute.NONE : Recompute.STAGE_INPUT;
      }
      plan = plan(firsts, sizes, microBatches, microBatch, policy, some);
      priced = prices.assess(plan);
    }
    return priced.fits() ? Optional.of(scored(plan, priced)) : Optional.empty();
  }

  /** Data parallelism on all devices in the micro-batches that suit it best. */
  Optional<Scored> dataParallel(int globalBatch, boolean overlapped) {
    int[] all = {costs.workload().cluster().size()};
    Optional<Scored> best = Optional.empty();
    for (int microBatch = 1; microBatch <= globalBatch; microBatch++) {
      Optional<Scored> one =
          globalBatch % microBatch == 0
              ? fitting(new int[] {0}, all, globalBatch / microBatch, microBatch, PipelinePolicy.A)
                  .map(plain -> overlapped ? overlapping(plain.plan()) : plain)
              : Optional.empty();
      if (one.isPresent() && (best.isEmpty() || one.get().seconds() < best.get().seconds())) {
        best = one;
      }
    }
    return best;
  }

  private Scored overlapping(PipelinePlan plan) {
    return scored(
        new PipelinePlan(
            plan.spec(),
            plan.microBatches(),
            plan.microBatch(),
            plan.replicas(),
            true,
            plan.stages()));
  }

  /** The plan simulated, whether it fits or not. */
  public Scored scored(PipelinePlan plan) {
    return scored(plan, prices.assess(plan));
  }

  private static Scored scored(PipelinePlan plan, Assessment priced) {
    double end = SimulatedOracle.run(plan, priced).makespan();
    return new Scored(plan, new Assessment("simulated", end, priced.stages()));
  }

  /** A plan of one copy whose stages take devices in order. */
  public PipelinePlan plan(
      int[] firsts,
      int[] sizes,
      int microBatches,
      int microBatch,
      PipelinePolicy policy,
      Recompute[] recompute) {
    List<StagePlan> stages = new ArrayList<>();
    int device = 0;
    for (int s = 0; s < sizes.length; s++) {
      int end = s + 1 < sizes.length ? firsts[s + 1] : costs.size();
      List<Integer> devices = IntStream.range(device, device + sizes[s]).boxed().toList();
      int ahead = policy.inFlightOf(sizes.length - 1 - s, microBatches);
      stages.add(new StagePlan(firsts[s], end - 1, devices, recompute[s], ahead));
      device += sizes[s];
    }
    return new PipelinePlan(policy, microBatches, microBatch, 1, false, stages);
  }

  /** The first position of the chain that contains a layer; -1 when no layer has the name. */
  static int position(StageCosts costs, String layer) {
    Integer index = costs.workload().chain().graph().index().get(layer);
    for (int i = 0; index != null && i < costs.size(); i++) {
      for (int added : costs.workload().chain().added(i)) {
        if (added == index) {
          return i;
        }
      }
    }
    return -1;
  }
}
