package dev.pipewright.planner;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.SimulatedOracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.schedule.check.Validator;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HybridSchedulesTest {
  /** The best hybrid has stages on unequal numbers of devices. */
  @ParameterizedTest
  @CsvSource({"amoebanet-36, dapple-c:8, 64, 0.95", "gnmt-16, dapple-c:8, 512, 0.95"})
  void zeroBubblesShortenHybrids(String network, String on, int batch, double share) {
    StageCosts costs = AutoPlannerTest.zoo(network, on);
    Oracle decides = new SimulatedOracle(CostModel.PIPEWRIGHT.oracle(costs));
    Request request = Request.of(batch);
    List<Candidate> hybrids = DapplePlanner.plan(costs, request, decides).candidates();
    List<Candidate> others =
        new HybridSchedules(costs, request, AutoPlanner.choices(request)).of(hybrids, decides);
    Set<String> stages =
        hybrids.stream().map(each -> each.plan().summary()).collect(Collectors.toSet());
    double least = Double.POSITIVE_INFINITY;
    for (Candidate each : others) {
      PipelinePlan plan = each.plan();
      assertEquals(List.of(), Validator.check(plan.schedule()));
      assertEquals(batch, plan.globalBatch());
      assertTrue(stages.contains(plan.summary()), plan.summary());
      assertFalse(plan.spec() instanceof PipelinePolicy, plan.spec().scheduleName());
      least = Math.min(least, each.seconds());
    }
    PipelinePlan best = hybrids.get(0).plan();
    assertTrue(best.stages().stream().map(StagePlan::replicas).distinct().count() > 1);
    assertTrue(least <= share * hybrids.get(0).seconds(), least + " of " + hybrids.get(0));
    Planning planning = AutoPlanner.plan(costs, request, decides, () -> false);
    assertTrue(planning.best().orElseThrow().seconds() <= least);
    assertTrue(planning.lowerBound().value() <= least);
  }
}
