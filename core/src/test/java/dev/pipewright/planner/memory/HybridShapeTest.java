package dev.pipewright.planner.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.plan.Plan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.memory.Capture.Request;
import dev.pipewright.planner.memory.HybridPlan.Stage;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.sim.SimulatedOracle;
import dev.pipewright.sim.memory.PlanMemory;
import java.util.List;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class HybridShapeTest {
  private static final double ROUNDING = 1e-12;

  @RepeatedTest(200)
  void whatIsPricedAnewCostsWhatItWasPlannedFor(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    StageCosts costs = SmallNetworks.costs(random, random.nextInt(1, 7));
    PipelinePolicy policy =
        List.of(PipelinePolicy.A, PipelinePolicy.B, PipelinePolicy.ALL).get(random.nextInt(3));
    Request request =
        new Request(
            random.nextInt(1, 5), OptionalInt.empty(), List.of(policy), 4, 5, Long.MAX_VALUE);
    for (HybridPlan plan : Capture.of(costs, request, () -> false).front()) {
      HybridPlan again = HybridShape.of(plan).priced(costs);
      assertEquals(plan.summary(), again.summary());
      assertEquals(plan.stepSeconds(), again.stepSeconds(), ROUNDING * plan.stepSeconds());
      for (int s = 0; s < plan.stages().size(); s++) {
        assertEquals(plan.stages().get(s).cost(), again.stages().get(s).cost());
      }
      simulate(again);
    }
  }

  /** Nothing holds more in the simulator than the model says, and steps take what paths say. */
  private static void simulate(HybridPlan plan) {
    var stages = plan.stages().stream().map(Stage::cost).toList();
    Assessment priced = new Assessment("", plan.stepSeconds(), stages);
    var run = SimulatedOracle.run(HybridShape.of(plan).plan(), priced);
    assertTrue(run.makespan() >= plan.stepSeconds() * 0.5, plan::toString);
    var memory = PlanMemory.of(stages, run);
    for (int s = 0; s < stages.size(); s++) {
      double most = stages.get(s).memory().peakBytes();
      assertTrue(memory.get(s).peak().bytes() <= most * (1 + ROUNDING), plan::toString);
    }
  }

  private static String refusal(List<Integer> devices, Degrees degrees, int microBatch) {
    StagePlan stage = new StagePlan(0, 3, devices, Recompute.NONE, 1);
    Plan plan = new Plan(PipelinePolicy.A, 1, microBatch, 1, false, List.of(stage));
    return String.valueOf(
        assertThrows(IllegalArgumentException.class, () -> new HybridShape(plan, List.of(degrees)))
            .getMessage());
  }

  @Test
  void degreesMakeUpTheDevices() {
    assertEquals(
        "stages[0] has 3 devices, but data 2 times tensor 2 makes 4; make them agree",
        refusal(List.of(0, 1, 2), new Degrees(2, 2), 4));
    assertEquals(
        "stages[0].devices names 3 behind 1; devices that divide tensors follow each other",
        refusal(List.of(0, 1, 3, 4), new Degrees(2, 2), 4));
    assertEquals(
        "stages[0].data is 2, but a micro-batch has 1 samples to share; take at most as many",
        refusal(List.of(0, 1, 2, 3), new Degrees(2, 2), 1));
  }
}
