package dev.pipewright.planner;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.Samples;
import dev.pipewright.cost.SimulatedOracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.planner.Planning.LowerBound;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.schedule.catalog.ScheduleCatalog;
import dev.pipewright.schedule.catalog.ScheduleEntry;
import java.util.List;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class FillingBoundTest {
  private static Request request(int globalBatch, Recomputation recomputation) {
    return new Request(
        globalBatch,
        OptionalInt.empty(),
        List.of(PipelinePolicy.A, PipelinePolicy.B),
        recomputation,
        CostModel.PIPEWRIGHT);
  }

  @RepeatedTest(value = 300, name = "seed {currentRepetition}")
  void itHoldsForNoStepThatExhaustiveSearchFinds(RepetitionInfo seed) {
    var random = new SplittableRandom(91_000 + seed.getCurrentRepetition());
    int globalBatch = random.nextInt(1, 9);
    StageCosts costs = Samples.costs(random, Samples.chain(random.nextInt(1, 7)), globalBatch);
    Recomputation recomputation =
        random.nextBoolean() ? Recomputation.WHERE_NEEDED : Recomputation.NEVER;
    double optimum = Exhaustive.best(costs, request(globalBatch, recomputation)).seconds();
    if (Double.isFinite(optimum)) {
      assertFalse(
          FillingBound.holds(costs, globalBatch, false, optimum * (1 + 1e-9)), "" + optimum);
      LowerBound known = LowerBounds.best(costs, globalBatch, CostModel.PIPEWRIGHT);
      LowerBound raised = FillingBound.raised(known, costs, globalBatch, false);
      assertTrue(raised.value() >= known.value(), raised::why);
      assertTrue(raised.value() <= optimum * (1 + 1e-9), raised::why);
    }
  }

  /** Plans without filling would take no longer than the work, shared by all devices. */
  @Test
  void fillingRaisesTheBoundOfManyProblems() {
    int higher = 0;
    for (int seed = 0; seed < 100; seed++) {
      var random = new SplittableRandom(92_000 + seed);
      int globalBatch = random.nextInt(2, 9);
      StageCosts costs = Samples.costs(random, Samples.chain(random.nextInt(3, 7)), globalBatch);
      double work = LowerBounds.workSeconds(costs, globalBatch);
      higher += FillingBound.holds(costs, globalBatch, false, 1.1 * work) ? 1 : 0;
    }
    assertTrue(higher >= 30, "higher than 1.1 times the work of " + higher);
  }

  /** Some hybrids, in all other orders of their stages. */
  @RepeatedTest(value = 40, name = "seed {currentRepetition}")
  void noOrderOfTheStagesOfHybridsIsFaster(RepetitionInfo seed) {
    var random = new SplittableRandom(93_000 + seed.getCurrentRepetition());
    int globalBatch = random.nextInt(2, 9);
    StageCosts costs = Samples.costs(random, Samples.chain(random.nextInt(2, 5)), globalBatch);
    Request request = request(globalBatch, Recomputation.NEVER);
    double bound = LowerBounds.inAnyOrder(costs, globalBatch).value();
    Oracle simulated = new SimulatedOracle(CostModel.PIPEWRIGHT.oracle(costs));
    HybridSchedules orders = new HybridSchedules(costs, request, List.of());
    List<ScheduleEntry> entries =
        ScheduleCatalog.entries().stream()
            .filter(entry -> entry.isSynchronousPipeline() && entry.chunks() == 1)
            .filter(entry -> !entry.needsDurations()) // each takes a search
            .toList();
    Exhaustive.all(
        costs,
        request,
        plan -> {
          for (ScheduleEntry entry : random.nextInt(10) == 0 ? entries : List.<ScheduleEntry>of()) {
            double step =
                orders
                    .in(plan, entry)
                    .map(simulated::assess)
                    .filter(Assessment::fits)
                    .map(Assessment::stepSeconds)
                    .orElse(Double.POSITIVE_INFINITY);
            assertTrue(bound <= step * (1 + 1e-9), () -> entry.name() + " " + plan);
          }
        });
  }
}
