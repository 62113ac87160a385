package dev.pipewright.planner;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.Link;
import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.PathFormula;
import dev.pipewright.cost.PipelineOracle;
import dev.pipewright.cost.Samples;
import dev.pipewright.cost.SimulatedOracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.ScheduledPlanner.Choice;
import dev.pipewright.schedule.FixedOrder;
import dev.pipewright.schedule.catalog.ScheduleCatalog;
import dev.pipewright.schedule.catalog.ScheduleEntry;
import dev.pipewright.schedule.catalog.ScheduleInput;
import dev.pipewright.schedule.check.Validator;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ScheduledPlannerTest {
  static Stream<String> pipelines() {
    return ScheduleCatalog.entries().stream()
        .filter(ScheduleEntry::isSynchronousPipeline)
        .map(ScheduleEntry::name);
  }

  private static final Link FAST = Link.of(0.01, 1e9);

  /** Its messages take about as long as a stage. */
  private static final Link SLOW = Link.of(0.01, 4e4);

  /** Eight layers, two devices. */
  private static StageCosts costs(long seed, Link link) {
    StageCosts any = Samples.costs(new SplittableRandom(seed), Samples.chain(8), 8);
    Workload of = any.workload();
    Cluster cluster = Samples.plain(List.of(link), 2);
    return new StageCosts(new Workload(of.chain(), of.profile(), of.training(), cluster));
  }

  private static Planning plan(ScheduleEntry entry, StageCosts costs) {
    Request request = Request.of(8).withStages(OptionalInt.of(2));
    Choice choice = new Choice(entry, entry.chunks());
    return ScheduledPlanner.plan(choice, costs, request, decides(costs), () -> false);
  }

  private static Oracle decides(StageCosts costs) {
    return new SimulatedOracle(new PipelineOracle(costs, new PathFormula()));
  }

  @ParameterizedTest
  @MethodSource("pipelines")
  void plansRunTheirScheduleAndStateWhatTheOracleSays(String name) {
    for (Link link : List.of(FAST, SLOW)) {
      StageCosts costs = costs(1, link);
      Planning planning = plan(ScheduleCatalog.find(name).orElseThrow(), costs);
      assertFalse(planning.candidates().isEmpty(), name);
      for (Candidate candidate : planning.candidates()) {
        PipelinePlan plan = candidate.plan();
        assertEquals(List.of(), Validator.check(plan.schedule()), name);
        assertEquals(8, plan.globalBatch(), name);
        assertEquals(name, plan.spec().scheduleName());
        Assessment priced = CostModel.PIPEWRIGHT.oracle(costs).assess(plan);
        assertEquals(priced, candidate.estimate(), name);
        assertTrue(planning.lowerBound().value() <= candidate.seconds() * (1 + 1e-9), name);
        assertTrue(priced.stepSeconds() <= candidate.seconds() * (1 + 1e-9), name);
      }
    }
  }

  /** Over all cuts into two stages, or four where each rank has two. */
  @ParameterizedTest
  @MethodSource("pipelines")
  void noOtherCutIsMuchFaster(String name) {
    ScheduleEntry entry = ScheduleCatalog.find(name).orElseThrow();
    if (entry.needsDurations()) {
      return; // the order changes with the cut
    }
    for (long seed = 1; seed <= 8; seed++) {
      StageCosts costs = costs(seed, seed % 2 == 0 ? FAST : SLOW);
      Candidate best = plan(entry, costs).best().orElseThrow();
      double least = Double.POSITIVE_INFINITY;
      for (int samples : List.of(1, 2, 4, 8)) {
        least = Math.min(least, exhaustive(entry, costs, samples));
      }
      assertTrue(
          best.seconds() <= least * 1.05,
          name + ", seed " + seed + ": " + best.seconds() + " against " + least);
    }
  }

  private static double exhaustive(ScheduleEntry entry, StageCosts costs, int samples) {
    FixedOrder order;
    try {
      order = FixedOrder.of(entry.make(ScheduleInput.counts(2, 8 / samples, entry.chunks())));
    } catch (IllegalArgumentException e) {
      return Double.POSITIVE_INFINITY; // not for so few micro-batches
    }
    Oracle oracle = decides(costs);
    double least = Double.POSITIVE_INFINITY;
    for (int[] firsts : cuts(order.stages(), costs.size())) {
      int[] inFlight = order.inFlight(firsts.length, order.microBatches());
      List<StagePlan> stages = new ArrayList<>();
      for (int stage = 0; stage < firsts.length; stage++) {
        int end = stage + 1 < firsts.length ? firsts[stage + 1] : costs.size();
        int rank = order.order().placement().rankOf(stage);
        stages.add(
            new StagePlan(
                firsts[stage],
                end - 1,
                List.of(rank),
                dev.pipewright.plan.Recompute.NONE,
                inFlight[stage]));
      }
      Assessment priced =
          oracle.assess(new PipelinePlan(order, order.microBatches(), samples, 1, false, stages));
      least = priced.fits() ? Math.min(least, priced.stepSeconds()) : least;
    }
    return least;
  }

  /** All ways to cut layers into stages, as the first layer of each. */
  private static List<int[]> cuts(int stages, int layers) {
    List<int[]> cuts = new ArrayList<>();
    cuts(new int[stages], 1, layers, cuts);
    return cuts;
  }

  private static void cuts(int[] firsts, int next, int layers, List<int[]> cuts) {
    if (next == firsts.length) {
      cuts.add(firsts.clone());
      return;
    }
    for (int first = firsts[next - 1] + 1; first <= layers - (firsts.length - next); first++) {
      firsts[next] = first;
      cuts(firsts, next + 1, layers, cuts);
    }
  }
}
