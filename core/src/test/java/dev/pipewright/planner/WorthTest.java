package dev.pipewright.planner;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.Samples;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.schedule.PipelinePolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class WorthTest {
  private static final int MICRO_BATCHES = 6;

  private static PricedCuts priced(StageCosts costs, Recompute recompute) {
    int ranks = Math.min(costs.size(), costs.workload().cluster().size());
    List<StagePlan> stages = new ArrayList<>();
    int[] firsts = new int[ranks];
    for (int s = 0; s < ranks; s++) {
      firsts[s] = s * costs.size() / ranks;
      int last = (s + 1) * costs.size() / ranks - 1;
      int inFlight = Math.min(MICRO_BATCHES, ranks - s);
      stages.add(new StagePlan(firsts[s], last, List.of(s), recompute, inFlight));
    }
    PipelinePlan plan = new PipelinePlan(PipelinePolicy.A, MICRO_BATCHES, 1, 1, false, stages);
    Assessment estimate = CostModel.PIPEWRIGHT.oracle(costs).assess(plan);
    return new PricedCuts(PipelinePolicy.A, firsts, plan, estimate);
  }

  /** Between what the plan takes as it is and what it takes when all is recomputed. */
  @Test
  void leavesOutWhatTakesLongerOnceItRecomputesWhatMemoryLacks() {
    int between = 0;
    for (int seed = 1; seed <= 200; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      StageCosts costs = Samples.costs(random, Samples.chain(random.nextInt(2, 9)), MICRO_BATCHES);
      PricedCuts kept = priced(costs, Recompute.NONE);
      double least = kept.estimate().stepSeconds();
      double most = priced(costs, Recompute.STAGE_INPUT).estimate().stepSeconds();
      assertTrue(new Worth(0.999 * least, 0).excludes(kept), "seed " + seed);
      assertFalse(new Worth(1.001 * most, 0).excludes(kept), "seed " + seed);
      assertFalse(Worth.ANY.excludes(kept));
      boolean excludes = new Worth(1.001 * least, 0).excludes(kept);
      assertTrue(!excludes || !kept.fits(), "seed " + seed);
      between += excludes ? 1 : 0;
    }
    assertTrue(between >= 20, "between " + between);
  }

  /** The busiest rank works in the middle of a step, too. */
  @Test
  void moreMicroBatchesTakeTheBusiestRanksWork() {
    StageCosts costs = Samples.costs(new SplittableRandom(1), Samples.chain(6), MICRO_BATCHES);
    PricedCuts kept = priced(costs, Recompute.NONE);
    assertTrue(kept.fits());
    double each = RankWork.mostSeconds(kept.plan(), kept.estimate().stages());
    double seconds = kept.estimate().stepSeconds() + 10 * each;
    assertTrue(new Worth(0.999 * seconds, 10).excludes(kept));
    assertFalse(new Worth(1.001 * seconds, 10).excludes(kept));
  }
}
