package dev.pipewright.planner.memory;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.PartlyKept;
import dev.pipewright.cost.PathFormula;
import dev.pipewright.cost.PipelineOracle;
import dev.pipewright.cost.Samples;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.Request;
import dev.pipewright.planner.SearchStoppedException;
import dev.pipewright.planner.recompute.EveryChoice;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.units.Bytes;
import java.util.List;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class McapTest {
  private static final Mcap.Cutter EXACT =
      (peaks, layers, stages) -> McapExact.of(peaks, layers, stages, TieBreak.NEXT_PEAKS);
  private static final Mcap.Cutter BRUTE =
      (peaks, layers, stages) -> McapBruteForce.of(peaks, layers, stages, () -> false);

  private static Request request(int batch, PipelinePolicy policy) {
    return request(batch, OptionalInt.empty(), policy);
  }

  private static Request request(int batch, OptionalInt samples, PipelinePolicy policy) {
    return new Request(batch, samples, List.of(policy), Recomputation.NEVER, CostModel.PIPEWRIGHT);
  }

  @RepeatedTest(50)
  void theStraightPipelineHasThePeakThatTheOracleOfAllPlannersSays(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    StageCosts costs = SmallNetworks.costs(random, random.nextInt(4, 10));
    PipelinePolicy policy =
        List.of(PipelinePolicy.A, PipelinePolicy.B, PipelinePolicy.ALL).get(random.nextInt(3));
    Planning brute = Mcap.plan(costs, request(4, policy), BRUTE);
    Planning exact = Mcap.plan(costs, request(4, policy), EXACT);
    Candidate plan = exact.best().orElseThrow();
    assertEquals(brute.best().orElseThrow().plan().summary(), plan.plan().summary());
    assertEquals(costs.workload().cluster().size(), plan.plan().stages().size());
    var assessed = new PipelineOracle(costs, new PathFormula()).assess(plan.plan());
    assertEquals(1, assessed.peakBytes() / plan.peakBytes(), 1e-9);
    assertEquals(1, assessed.peakBytes() / exact.lowerBound().value(), 1e-9);
    assertTrue(exact.search().exhaustive());
    for (int samples : new int[] {1, 2, 4}) {
      StagePeak peaks =
          new ModelledPeaks(costs, policy, plan.plan().stages().size(), 4 / samples, samples);
      double least =
          EveryPartition.peak(
              peaks, EveryPartition.best(peaks, costs.size(), plan.plan().stages().size()), 0);
      assertTrue(plan.peakBytes() <= least * (1 + 1e-12), samples + " samples");
    }
  }

  @RepeatedTest(50)
  void fewerStagesThanDevicesHaveTheLeastPeakToo(RepetitionInfo seed) {
    var random = new SplittableRandom(2000 + seed.getCurrentRepetition());
    StageCosts costs = SmallNetworks.costs(random, random.nextInt(4, 8));
    int stages = random.nextInt(1, costs.workload().cluster().size() + 1);
    Request request =
        request(4, OptionalInt.of(2), PipelinePolicy.A).withStages(OptionalInt.of(stages));
    Candidate plan = Mcap.plan(costs, request, EXACT).candidates().get(0);
    assertEquals(stages, plan.plan().stages().size());
    StagePeak peaks = new ModelledPeaks(costs, PipelinePolicy.A, stages, 2, 2);
    double least = EveryPartition.peak(peaks, EveryPartition.best(peaks, costs.size(), stages), 0);
    assertEquals(1, plan.peakBytes() / least, 1e-9);
  }

  /** All partitions and, in each stage, all choices of layers that run again. */
  @RepeatedTest(200)
  void noPartitionHoldsLessWhateverLayersRunAgain(RepetitionInfo seed) {
    var random = new SplittableRandom(1000 + seed.getCurrentRepetition());
    StageCosts costs = SmallNetworks.costs(random, random.nextInt(4, 8));
    PipelinePolicy policy =
        List.of(PipelinePolicy.A, PipelinePolicy.B, PipelinePolicy.ALL).get(random.nextInt(3));
    int batch = random.nextInt(1, 5);
    Request request =
        request(batch, OptionalInt.of(1), policy).recomputing(Recomputation.SELECTIVE);
    Candidate plan = Mcap.plan(costs, request, EXACT).candidates().get(0);
    int stages = costs.workload().cluster().size();
    StagePeak every =
        (stage, first, end) -> {
          int inFlight = policy.inFlightOf(stages - 1 - stage, batch);
          double[] least = {Double.POSITIVE_INFINITY};
          EveryChoice.of(
              end - first,
              again ->
                  least[0] =
                      Math.min(
                          least[0],
                          PartlyKept.of(costs.layers(first, end, 1), again).peakBytes(inFlight)));
          return costs.staticBytes(first, end) + least[0];
        };
    double least = EveryPartition.peak(every, EveryPartition.best(every, costs.size(), stages), 0);
    assertEquals(1, plan.peakBytes() / least, 1e-9);
    var assessed = new PipelineOracle(costs, new PathFormula()).assess(plan.plan());
    assertEquals(1, assessed.peakBytes() / plan.peakBytes(), 1e-9);
    assertEquals(1, assessed.stepSeconds() / plan.seconds(), 1e-9);
  }

  @Test
  void aLargeSearchThatIsStoppedAtOnceHasNoAnswer() {
    LayerPeaks peaks = RandomPeaks.ofLayers(new SplittableRandom(3), 1000);
    assertThrows(
        SearchStoppedException.class,
        () -> McapExact.of(peaks, 1000, 8, TieBreak.NONE, () -> true));
    assertThrows(SearchStoppedException.class, () -> McapBruteForce.of(peaks, 1000, 8, () -> true));
  }

  @Test
  void aSearchThatIsStoppedAfterItsOptimumKeepsIt() {
    LayerPeaks peaks = RandomPeaks.ofLayers(new SplittableRandom(4), 1000);
    Balance whole = McapExact.of(peaks, 1000, 8, TieBreak.NONE);
    assertTrue(whole.runnerUp().isPresent());
    long[] asked = {0};
    McapExact.of(peaks, 1000, 8, TieBreak.NONE, () -> ++asked[0] < 0);
    long[] left = {asked[0] - 1}; // within the search for the runner-up
    Balance stopped = McapExact.of(peaks, 1000, 8, TieBreak.NONE, () -> --left[0] < 0);
    assertArrayEquals(whole.sizes(), stopped.sizes());
    assertTrue(stopped.runnerUp().isEmpty());
  }

  @Test
  void whatDoesNotFitSaysHowMuchWould() {
    var random = new SplittableRandom(1);
    var cluster = Samples.cluster(random, 1L << 50).withMemory(new Bytes(100));
    StageCosts costs = SmallNetworks.costs(random, 6, cluster);
    Planning planning = Mcap.plan(costs, request(2, PipelinePolicy.A), EXACT);
    assertTrue(planning.best().isEmpty());
    String remedy = PeakBinding.remedy(planning.candidates().get(0));
    assertTrue(
        remedy.matches("the smallest peak of any plan is .*, and a device has 100 B;.*"), remedy);
  }

  @Test
  void measuredPeaksAreThePlans() {
    var random = new SplittableRandom(2);
    LayerPeaks peaks = RandomPeaks.ofLayers(random, 9);
    var cluster = Samples.cluster(random, 1L << 50);
    Planning planning = Mcap.measured(peaks, cluster, EXACT);
    Candidate plan = planning.best().orElseThrow();
    Balance balance = EXACT.cut(peaks, 9, cluster.size());
    assertArrayEquals(
        balance.bytes(),
        plan.estimate().stages().stream()
            .mapToDouble(stage -> stage.memory().peakBytes())
            .toArray());
    assertEquals(8, plan.plan().stages().get(plan.plan().stages().size() - 1).lastLayer());
    assertTrue(Double.isNaN(plan.seconds()));
    assertFalse(planning.runnerUp().isEmpty());
  }
}
