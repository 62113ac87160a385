package dev.pipewright.planner.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.PathFormula;
import dev.pipewright.cost.PipelineOracle;
import dev.pipewright.cost.Samples;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.planner.memory.Capture.Found;
import dev.pipewright.planner.memory.Capture.Request;
import dev.pipewright.planner.memory.EveryHybridPlan.Priced;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.schedule.PipelinePolicy;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class CaptureTest {
  private static final double ROUNDING = 1e-9;

  private static Request everything(int batch, PipelinePolicy policy) {
    return new Request(
        batch, OptionalInt.empty(), List.of(policy), 4, Integer.MAX_VALUE, Long.MAX_VALUE);
  }

  private static List<Priced> every(
      StageCosts costs, int batch, PipelinePolicy policy, Recomputation recomputation) {
    List<Priced> all = new ArrayList<>();
    for (int samples = 1; samples <= batch; samples++) {
      if (batch % samples == 0) {
        all.addAll(EveryHybridPlan.of(costs, policy, batch, samples, 4, recomputation));
      }
    }
    return all;
  }

  @RepeatedTest(200)
  void findsTheLeastPeakAndEveryPlanThatNoOtherBeatsInBoth(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    compare(SmallNetworks.costs(random, random.nextInt(1, 7)), random, Recomputation.NEVER);
  }

  /** Any layers may run again in any stage. */
  @RepeatedTest(200)
  void findsThemAmongAllChoicesOfLayersThatRunAgainToo(RepetitionInfo seed) {
    var random = new SplittableRandom(1000 + seed.getCurrentRepetition());
    compare(SmallNetworks.costs(random, random.nextInt(1, 6)), random, Recomputation.SELECTIVE);
  }

  @RepeatedTest(50)
  void findsThemWhereAllLayersHaveToRunAgain(RepetitionInfo seed) {
    var random = new SplittableRandom(2000 + seed.getCurrentRepetition());
    compare(SmallNetworks.costs(random, random.nextInt(1, 7)), random, Recomputation.ALWAYS);
  }

  private static void compare(
      StageCosts costs, SplittableRandom random, Recomputation recomputation) {
    PipelinePolicy policy =
        List.of(PipelinePolicy.A, PipelinePolicy.B, PipelinePolicy.ALL).get(random.nextInt(3));
    int batch = random.nextInt(1, 5);
    List<Priced> all = every(costs, batch, policy, recomputation);
    if (all.isEmpty()) {
      return; // fewer devices have to do: see below
    }
    Found found =
        Capture.of(costs, everything(batch, policy).recomputing(recomputation), () -> false);
    double least = all.stream().mapToDouble(Priced::peak).min().orElseThrow();
    assertEquals(1, found.lowerBound().bytes() / least, ROUNDING);
    assertEquals(1, found.best().orElseThrow().peakBytes() / least, ROUNDING);
    assertTrue(found.exhaustive());
    List<Priced> front = front(all);
    assertEquals(front.size(), found.front().size(), () -> front + " " + found.front());
    for (int i = 0; i < front.size(); i++) {
      assertEquals(1, found.front().get(i).peakBytes() / front.get(i).peak(), ROUNDING);
      assertEquals(1, found.front().get(i).stepSeconds() / front.get(i).seconds(), ROUNDING);
    }
  }

  @RepeatedTest(100)
  void findsTheLeastPeakAndTheFastestOfExactlySoManyStages(RepetitionInfo seed) {
    var random = new SplittableRandom(3000 + seed.getCurrentRepetition());
    StageCosts costs = SmallNetworks.costs(random, random.nextInt(1, 6));
    Recomputation recomputation =
        random.nextBoolean() ? Recomputation.NEVER : Recomputation.SELECTIVE;
    List<Priced> all = every(costs, 2, PipelinePolicy.A, recomputation);
    int most = Math.min(costs.size(), costs.workload().cluster().size());
    for (int count = 1; count <= most; count++) {
      int stages = count;
      Request request =
          everything(2, PipelinePolicy.A)
              .recomputing(recomputation)
              .withStages(OptionalInt.of(stages));
      Found found = Capture.of(costs, request, () -> false);
      found.front().forEach(plan -> assertEquals(stages, plan.stages().size()));
      List<Priced> those = all.stream().filter(one -> one.pieces().size() == stages).toList();
      if (!those.isEmpty()) {
        double least = those.stream().mapToDouble(Priced::peak).min().orElseThrow();
        double fastest = those.stream().mapToDouble(Priced::seconds).min().orElseThrow();
        assertEquals(1, found.best().orElseThrow().peakBytes() / least, ROUNDING);
        HybridPlan last = found.front().get(found.front().size() - 1);
        assertEquals(1, last.stepSeconds() / fastest, ROUNDING);
      }
    }
  }

  /** Differences that are rounding are none. */
  private static List<Priced> front(List<Priced> all) {
    List<Priced> sorted = new ArrayList<>(all);
    sorted.sort(Comparator.comparingDouble(Priced::peak).thenComparingDouble(Priced::seconds));
    List<Priced> front = new ArrayList<>();
    for (Priced one : sorted) {
      Priced last = front.isEmpty() ? one : front.get(front.size() - 1);
      if (front.isEmpty() || one.seconds() < last.seconds() * (1 - ROUNDING)) {
        if (!front.isEmpty() && one.peak() <= last.peak() * (1 + ROUNDING)) {
          front.remove(front.size() - 1);
        }
        front.add(one);
      }
    }
    return front;
  }

  @RepeatedTest(50)
  void withoutTensorGroupsAPlanCostsWhatTheOracleOfAllPlannersSays(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    StageCosts costs = SmallNetworks.costs(random, random.nextInt(4, 9));
    Recomputation recomputation =
        List.of(Recomputation.NEVER, Recomputation.ALWAYS, Recomputation.SELECTIVE)
            .get(random.nextInt(3));
    Request request =
        new Request(4, OptionalInt.empty(), List.of(PipelinePolicy.A), 1, 5, Long.MAX_VALUE)
            .recomputing(recomputation);
    for (HybridPlan plan : Capture.of(costs, request, () -> false).front()) {
      Assessment assessed =
          new PipelineOracle(costs, new PathFormula()).assess(plan.plan().orElseThrow());
      assertEquals(1, assessed.peakBytes() / plan.peakBytes(), ROUNDING);
      assertEquals(1, assessed.stepSeconds() / plan.stepSeconds(), ROUNDING);
      for (int s = 0; s < plan.stages().size(); s++) {
        var expected = assessed.stages().get(s);
        var cost = plan.stages().get(s).cost();
        assertEquals(expected.forwardSeconds(), cost.forwardSeconds(), ROUNDING);
        assertEquals(expected.allReduceSeconds(), cost.allReduceSeconds(), ROUNDING);
        assertEquals(expected.returnSeconds(), cost.returnSeconds(), ROUNDING);
        assertEquals(expected.backwardSeconds(), cost.backwardSeconds(), ROUNDING);
        assertEquals(expected.memory().inFlight(), cost.memory().inFlight());
      }
    }
  }

  /** Also of stages that divide tensors. */
  @RepeatedTest(50)
  void givenRunsOfLayersCostWhatTheSearchSays(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    StageCosts costs = SmallNetworks.costs(random, random.nextInt(4, 9));
    Request request =
        new Request(4, OptionalInt.of(2), List.of(PipelinePolicy.A), 4, 5, Long.MAX_VALUE)
            .recomputing(Recomputation.SELECTIVE);
    HybridRecomputation relief =
        new HybridRecomputation(new HybridCosts(costs), Recomputation.SELECTIVE);
    for (HybridPlan plan : Capture.of(costs, request, () -> false).front()) {
      for (HybridPlan.Stage stage : plan.stages()) {
        int first = stage.firstLayer();
        int end = stage.lastLayer() + 1;
        int device = stage.devices().get(0);
        var choice = relief.given(first, end, device, stage.degrees(), 2, stage.again());
        var cost =
            relief
                .costs()
                .stage(
                    first,
                    end,
                    device,
                    stage.degrees(),
                    2,
                    stage.inFlight(),
                    choice,
                    Transfer.NONE);
        assertEquals(stage.cost().backwardSeconds(), cost.backwardSeconds(), ROUNDING);
        assertEquals(1, stage.cost().memory().peakBytes() / cost.memory().peakBytes(), ROUNDING);
      }
    }
  }

  @Test
  void aSmallerLeastPeakThanTheDevicesHaveIsNoPlan() {
    var random = new SplittableRandom(3);
    StageCosts costs = SmallNetworks.costs(random, 4, Samples.cluster(random, 1000));
    Found found = Capture.of(costs, everything(4, PipelinePolicy.A), () -> false);
    assertTrue(found.best().isEmpty());
    assertTrue(found.lowerBound().bytes() > 1000);
    assertEquals(found.lowerBound().bytes(), found.front().get(0).peakBytes());
  }

  @Test
  void oneSampleAndOneLayerThatIsNotDividedUseOneDevice() {
    StageCosts costs = Samples.costs(new SplittableRandom(1), Samples.chain(1), 1);
    Found found = Capture.of(costs, everything(1, PipelinePolicy.A), () -> false);
    assertEquals(1, found.front().get(0).stages().get(0).devices().size());
  }

  @Test
  void stoppedAtOnceItStillHasThePlanOfTheLeastPeak() {
    var random = new SplittableRandom(5);
    StageCosts costs = SmallNetworks.costs(random, 8);
    Found whole = Capture.of(costs, everything(4, PipelinePolicy.A), () -> false);
    Found cut = Capture.of(costs, everything(4, PipelinePolicy.A), () -> true);
    assertFalse(cut.exhaustive());
    assertEquals(whole.lowerBound().bytes(), cut.best().orElseThrow().peakBytes());
  }

  @Test
  void aBudgetIsKeptAndSaidSo() {
    var random = new SplittableRandom(6);
    StageCosts costs = SmallNetworks.costs(random, 8);
    Request request = new Request(4, OptionalInt.empty(), List.of(PipelinePolicy.A), 4, 5, 1);
    Found cut = Capture.of(costs, request, () -> false);
    Found whole = Capture.of(costs, everything(4, PipelinePolicy.A), () -> false);
    assertFalse(cut.exhaustive());
    assertEquals(whole.lowerBound().bytes(), cut.best().orElseThrow().peakBytes());
  }
}
