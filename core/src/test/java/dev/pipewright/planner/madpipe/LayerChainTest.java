package dev.pipewright.planner.madpipe;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cost.Samples;
import dev.pipewright.cost.StageCosts;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;

class LayerChainTest {
  /** The sums of branches are rounded in another order than those of what lies between. */
  @RepeatedTest(200)
  void noStageOfABranchingNetworkCostsLessThanNothing(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    StageCosts costs = Samples.costs(random, Samples.branching(random), 8);
    LayerChain chain = LayerChain.of(costs, random.nextInt(1, 9));
    for (int first = 0; first < chain.layers(); first++) {
      for (int end = first + 1; end <= chain.layers(); end++) {
        assertTrue(chain.stage(first, end).seconds() >= 0); // a load refuses less by itself
      }
    }
  }
}
