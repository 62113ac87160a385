package dev.pipewright.planner;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.Samples;
import dev.pipewright.cost.StageCost;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.schedule.PipelinePolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class SelectiveRecomputationTest {
  /** A pipeline with a device for each of up to four stages, all of which recompute. */
  private static PipelinePlan recomputing(StageCosts costs, SplittableRandom random) {
    int count = Math.min(random.nextInt(1, 5), costs.size());
    count = Math.min(count, costs.workload().cluster().size());
    int microBatches = random.nextInt(1, 6);
    List<StagePlan> stages = new ArrayList<>();
    for (int s = 0; s < count; s++) {
      int first = s * costs.size() / count;
      int last = (s + 1) * costs.size() / count - 1;
      int inFlight = Math.min(microBatches, count - s);
      stages.add(new StagePlan(first, last, List.of(s), Recompute.STAGE_INPUT, inFlight));
    }
    return new PipelinePlan(PipelinePolicy.A, microBatches, 1, 1, false, stages);
  }

  @Test
  void fewerLayersRunAgainAndAllStillFits() {
    int gained = 0;
    for (int seed = 1; seed <= 200; seed++) {
      var random = new SplittableRandom(seed);
      StageCosts costs = Samples.costs(random, Samples.chain(random.nextInt(1, 12)), 8);
      PipelinePlan plan = recomputing(costs, random);
      Assessment before = CostModel.PIPEWRIGHT.oracle(costs).assess(plan);
      Optional<PipelinePlan> better =
          SelectiveRecomputation.of(costs, costs, Recomputation.SELECTIVE).orElseThrow().of(plan);
      if (better.isEmpty()) {
        continue;
      }
      gained++;
      Assessment after = CostModel.PIPEWRIGHT.oracle(costs).assess(better.get());
      for (int s = 0; s < plan.stages().size(); s++) {
        StageCost old = before.stages().get(s);
        StageCost now = after.stages().get(s);
        assertTrue(now.backwardSeconds() <= old.backwardSeconds() * (1 + 1e-9), "seed " + seed);
        boolean fits = now.memory().peakBytes() <= now.memory().capacity().value() * (1 + 1e-9);
        assertTrue(fits || !old.memory().fits(), "seed " + seed);
        assertEquals(old.forwardSeconds(), now.forwardSeconds());
      }
    }
    assertTrue(gained >= 50, "gained " + gained);
  }
}
