package dev.pipewright.planner;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.Samples;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.planner.Planning.LowerBound;
import dev.pipewright.sim.SimulatedOracle;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class LowerBoundsTest {
  @RepeatedTest(200)
  void noPlanIsFaster(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    int globalBatch = random.nextInt(1, 9);
    StageCosts costs = Samples.costs(random, Samples.chain(random.nextInt(1, 8)), globalBatch);
    LowerBound bound = LowerBounds.best(costs, globalBatch, CostModel.PIPEWRIGHT);
    Planning planning =
        DapplePlanner.plan(
            costs,
            Request.of(globalBatch),
            new SimulatedOracle(CostModel.PIPEWRIGHT.oracle(costs)));
    planning
        .candidates()
        .forEach(plan -> assertTrue(bound.seconds() <= plan.seconds() * (1 + 1e-9), bound::why));
  }

  /** More devices than samples: each sample still has to go through all layers. */
  @Test
  void aSingleSampleHasItsWayToGo() {
    int paths = 0;
    for (int seed = 1; seed <= 50; seed++) {
      StageCosts costs = Samples.costs(new SplittableRandom(seed), Samples.chain(6), 1);
      LowerBound bound = LowerBounds.best(costs, 1, CostModel.PIPEWRIGHT);
      double once = costs.cheapestSecondsPerSample(1)[costs.size()] * costs.fastest();
      if (bound.why().equals("a sample through all layers")) {
        paths++;
        assertEquals(once, bound.seconds(), 1e-12 * once);
      }
      assertTrue(bound.seconds() >= once * (1 - 1e-12));
    }
    assertTrue(paths >= 10, "paths " + paths);
  }
}
