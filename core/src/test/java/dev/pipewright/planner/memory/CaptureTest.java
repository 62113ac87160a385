package dev.pipewright.planner.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.MessageOverhead;
import dev.pipewright.cluster.Software;
import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.PlanMemory;
import dev.pipewright.cost.Samples;
import dev.pipewright.cost.SimulatedOracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.Request;
import dev.pipewright.planner.memory.Capture.Limits;
import dev.pipewright.planner.memory.EveryHybridPlan.Priced;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.sim.Run;
import dev.pipewright.trace.RankMemory;
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

  private static final Limits EVERYTHING = new Limits(4, Integer.MAX_VALUE, Long.MAX_VALUE);

  private static Request request(int batch, PipelinePolicy policy) {
    return new Request(
        batch, OptionalInt.empty(), List.of(policy), Recomputation.NEVER, CostModel.PIPEWRIGHT);
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
    Planning found =
        Capture.plan(
            costs, request(batch, policy).recomputing(recomputation), EVERYTHING, () -> false);
    double least = all.stream().mapToDouble(Priced::peak).min().orElseThrow();
    assertEquals(1, found.lowerBound().value() / least, ROUNDING);
    assertEquals(1, found.best().orElseThrow().peakBytes() / least, ROUNDING);
    assertTrue(found.search().exhaustive());
    List<Priced> front = front(all);
    assertEquals(front.size(), found.candidates().size(), () -> front + " " + found.candidates());
    for (int i = 0; i < front.size(); i++) {
      assertEquals(1, found.candidates().get(i).peakBytes() / front.get(i).peak(), ROUNDING);
      assertEquals(1, found.candidates().get(i).seconds() / front.get(i).seconds(), ROUNDING);
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
          request(2, PipelinePolicy.A)
              .recomputing(recomputation)
              .withStages(OptionalInt.of(stages));
      Planning found = Capture.plan(costs, request, EVERYTHING, () -> false);
      found.candidates().forEach(plan -> assertEquals(stages, plan.plan().stages().size()));
      List<Priced> those = all.stream().filter(one -> one.pieces().size() == stages).toList();
      if (!those.isEmpty()) {
        double least = those.stream().mapToDouble(Priced::peak).min().orElseThrow();
        double fastest = those.stream().mapToDouble(Priced::seconds).min().orElseThrow();
        assertEquals(1, found.best().orElseThrow().peakBytes() / least, ROUNDING);
        Candidate last = found.candidates().get(found.candidates().size() - 1);
        assertEquals(1, last.seconds() / fastest, ROUNDING);
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

  /** Also where computing devices pay for messages, and layers are recomputed or divided. */
  @RepeatedTest(50)
  void whatMessagesCostCountsInTheSearchAsInTheOracle(RepetitionInfo seed) {
    var random = new SplittableRandom(4000 + seed.getCurrentRepetition());
    Software software = Software.IDEAL.withMessage(new MessageOverhead(0.3, 1e-4));
    Cluster cluster = Samples.cluster(random, 1L << 50).withSoftware(software);
    Recomputation recomputation =
        List.of(Recomputation.NEVER, Recomputation.ALWAYS, Recomputation.SELECTIVE)
            .get(random.nextInt(3));
    compare(SmallNetworks.costs(random, random.nextInt(1, 6), cluster), random, recomputation);
  }

  /** Nothing holds more in the simulator than the model says, and steps take what paths say. */
  @RepeatedTest(200)
  void theSimulatorHoldsWhatWasPlanned(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    StageCosts costs = SmallNetworks.costs(random, random.nextInt(1, 7));
    PipelinePolicy policy =
        List.of(PipelinePolicy.A, PipelinePolicy.B, PipelinePolicy.ALL).get(random.nextInt(3));
    Request request = request(random.nextInt(1, 5), policy);
    Limits limits = new Limits(4, 5, Long.MAX_VALUE);
    for (Candidate found : Capture.plan(costs, request, limits, () -> false).candidates()) {
      Run run = SimulatedOracle.run(found.plan(), found.estimate());
      assertTrue(run.makespan() >= found.seconds() * 0.5, found::toString);
      List<RankMemory> memory = PlanMemory.of(found.estimate().stages(), run);
      for (int s = 0; s < memory.size(); s++) {
        double most = found.estimate().stages().get(s).memory().peakBytes();
        assertTrue(memory.get(s).peak().bytes() <= most * (1 + 1e-12), found::toString);
      }
    }
  }

  @Test
  void aSmallerLeastPeakThanTheDevicesHaveIsNoPlan() {
    var random = new SplittableRandom(3);
    StageCosts costs = SmallNetworks.costs(random, 4, Samples.cluster(random, 1000));
    Planning found = Capture.plan(costs, request(4, PipelinePolicy.A), EVERYTHING, () -> false);
    assertTrue(found.best().isEmpty());
    assertTrue(found.lowerBound().value() > 1000);
    assertEquals(found.lowerBound().value(), found.candidates().get(0).peakBytes());
  }

  @Test
  void oneSampleAndOneLayerThatIsNotDividedUseOneDevice() {
    StageCosts costs = Samples.costs(new SplittableRandom(1), Samples.chain(1), 1);
    Planning found = Capture.plan(costs, request(1, PipelinePolicy.A), EVERYTHING, () -> false);
    assertEquals(1, found.candidates().get(0).plan().stages().get(0).devices().size());
  }

  @Test
  void stoppedAtOnceItStillHasThePlanOfTheLeastPeak() {
    var random = new SplittableRandom(5);
    StageCosts costs = SmallNetworks.costs(random, 8);
    Planning whole = Capture.plan(costs, request(4, PipelinePolicy.A), EVERYTHING, () -> false);
    Planning cut = Capture.plan(costs, request(4, PipelinePolicy.A), EVERYTHING, () -> true);
    assertFalse(cut.search().exhaustive());
    assertEquals(whole.lowerBound().value(), cut.best().orElseThrow().peakBytes());
  }

  @Test
  void aBudgetIsKeptAndSaidSo() {
    var random = new SplittableRandom(6);
    StageCosts costs = SmallNetworks.costs(random, 8);
    Request request = request(4, PipelinePolicy.A);
    Planning cut = Capture.plan(costs, request, new Limits(4, 5, 1), () -> false);
    Planning whole = Capture.plan(costs, request(4, PipelinePolicy.A), EVERYTHING, () -> false);
    assertFalse(cut.search().exhaustive());
    assertEquals(whole.lowerBound().value(), cut.best().orElseThrow().peakBytes());
  }
}
