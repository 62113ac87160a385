package dev.pipewright.planner;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.Samples;
import dev.pipewright.cost.SimulatedOracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.schedule.check.Validator;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class SynchronousPlansTest {
  private static final String SEEDED = "seed {currentRepetition}";

  private static Request request(int globalBatch, Recomputation recomputation) {
    return new Request(
        globalBatch,
        OptionalInt.empty(),
        List.of(PipelinePolicy.A, PipelinePolicy.B),
        recomputation,
        CostModel.PIPEWRIGHT);
  }

  /** Only layers and devices of it. */
  private static List<StagePlan> bare(PipelinePlan plan) {
    return plan.stages().stream()
        .map(s -> new StagePlan(s.firstLayer(), s.lastLayer(), s.devices(), Recompute.NONE, 1))
        .toList();
  }

  @RepeatedTest(value = 200, name = SEEDED)
  void thePlannersOwnStagesGiveThePlannersOwnStep(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    int globalBatch = random.nextInt(1, 13);
    StageCosts costs = Samples.costs(random, Samples.chain(random.nextInt(1, 8)), globalBatch);
    Request request = request(globalBatch, Recomputation.WHERE_NEEDED);
    Oracle estimates = CostModel.PIPEWRIGHT.oracle(costs);
    Oracle decides = new SimulatedOracle(estimates);
    Planning whole = DapplePlanner.plan(costs, request, decides);
    for (Candidate candidate : whole.candidates()) {
      PipelinePlan plan = candidate.plan();
      int samples = plan.microBatching();
      if (plan.overlapGradients()) {
        continue; // pipelines never do that
      }
      PipelinePlan again = SynchronousPlans.of(costs, bare(plan), globalBatch, samples);
      assertEquals(bare(plan), bare(again));
      assertEquals(globalBatch, again.globalBatch());
      assertEquals(List.of(), Validator.check(again.schedule()));
      Planning same =
          SynchronousPlans.best("given", costs, bare(plan), 1, request, decides, () -> false);
      double best =
          same.candidates().stream()
              .mapToDouble(c -> c.estimate().stepSeconds())
              .min()
              .orElse(Double.POSITIVE_INFINITY);
      double estimate = candidate.estimate().stepSeconds();
      assertTrue(best <= estimate * (1 + 1e-9), best + " > " + estimate + ": " + plan);
      assertEquals("given", same.planner());
      assertTrue(same.best().orElseThrow().estimate().fits());
    }
  }

  @RepeatedTest(value = 100, name = SEEDED)
  void aStageRecomputesOnlyWhereMemoryDemandsIt(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(500 + seed.getCurrentRepetition());
    int globalBatch = random.nextInt(2, 13);
    StageCosts costs = Samples.costs(random, Samples.chain(5), globalBatch);
    List<StagePlan> stages = new ArrayList<>();
    stages.add(new StagePlan(0, 2, List.of(0), Recompute.NONE, 1));
    stages.add(new StagePlan(3, 4, List.of(1), Recompute.NONE, 1));
    PipelinePlan plan = SynchronousPlans.of(costs, stages, globalBatch, 1);
    Oracle estimates = CostModel.PIPEWRIGHT.oracle(costs);
    List<StagePlan> keeping = new ArrayList<>();
    int[] wanted = PipelinePolicy.A.inFlight(2, globalBatch);
    for (int s = 0; s < 2; s++) {
      StagePlan one = stages.get(s);
      keeping.add(
          new StagePlan(
              one.firstLayer(), one.lastLayer(), one.devices(), Recompute.NONE, wanted[s]));
    }
    PipelinePlan greedy = new PipelinePlan(PipelinePolicy.A, globalBatch, 1, 1, false, keeping);
    for (int s = 0; s < 2; s++) {
      boolean fits = estimates.assess(greedy).stages().get(s).memory().fits();
      assertEquals(fits, plan.stages().get(s).recompute() == Recompute.NONE);
    }
  }

  @RepeatedTest(value = 50, name = SEEDED)
  void gPipeHoldsAllMicroBatchesAlsoWhereTheyDoNotFit(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(900 + seed.getCurrentRepetition());
    StageCosts costs = Samples.costs(random, Samples.chain(random.nextInt(1, 8)), 32);
    Request gPipe =
        new Request(
            32,
            OptionalInt.of(1),
            List.of(PipelinePolicy.ALL),
            Recomputation.NEVER,
            CostModel.PIPEWRIGHT);
    Oracle estimates = CostModel.PIPEWRIGHT.oracle(costs);
    List<StagePlan> all =
        List.of(new StagePlan(0, costs.size() - 1, List.of(0), Recompute.NONE, 1));
    Planning planning =
        SynchronousPlans.best("given", costs, all, 1, gPipe, estimates, () -> false);
    double capacity = costs.workload().cluster().device(0).memory().value();
    boolean fits = SynchronousPlans.leastBytes(costs, all, 1, gPipe) <= capacity;
    assertEquals(fits, planning.best().isPresent());
  }

  @Test
  void theBatchHasToBeShared() {
    SplittableRandom random = new SplittableRandom(1);
    StageCosts costs = Samples.costs(random, Samples.chain(2), 4);
    List<StagePlan> one = List.of(new StagePlan(0, 1, List.of(0), Recompute.NONE, 1));
    assertThrows(IllegalArgumentException.class, () -> SynchronousPlans.of(costs, one, 4, 3));
    Oracle oracle = CostModel.PIPEWRIGHT.oracle(costs);
    assertThrows(
        IllegalArgumentException.class,
        () ->
            SynchronousPlans.best(
                "given", costs, one, 3, request(4, Recomputation.NEVER), oracle, () -> false));
  }
}
