package dev.pipewright.planner;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.PathFormula;
import dev.pipewright.cost.PipelineOracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.planner.FrontSearch.Steps;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.Planning.LowerBound;
import dev.pipewright.planner.Planning.Search;
import dev.pipewright.planner.recompute.Recomputation;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class FrontSearchTest {
  private static final int INSTANCES = 200;
  private static final int BATCH = 8;
  private static final Steps EVERY = new Steps(0, 1_000);

  /** Recomputation would follow from memory, so that plans differ from limit to limit. */
  private static final Request REQUEST = Request.of(BATCH).recomputing(Recomputation.NEVER);

  /** All that equal pipelines can do, without moving cuts. */
  private static Planning plan(StageCosts costs) {
    Oracle oracle = new PipelineOracle(costs, new PathFormula());
    SearchEffort effort = new SearchEffort(1_000, 1_000, 100_000, 0, 0);
    EqualPipelines pipelines =
        new EqualPipelines(costs, REQUEST, SmallPipelines.choices(REQUEST), effort, () -> false);
    pipelines.add(Parallelism.NONE, List.of(ZeroStage.OPTIMIZER));
    List<Candidate> found = pipelines.search(oracle);
    return new Planning(
        "equal pipelines",
        REQUEST.costModel().word(),
        found.stream().findFirst(),
        found,
        new LowerBound(0, "none"),
        "",
        1,
        new Search(true, 0, "equal pipelines"));
  }

  private static final Map<Integer, List<Candidate>> KNOWN = new HashMap<>(); // by instance

  private static List<Candidate> exhaustive(int instance) {
    return KNOWN.computeIfAbsent(
        instance, seed -> exhaustive(SmallPipelines.costs(new SplittableRandom(seed))));
  }

  /** Every plan of the same space, with gradients summed during the last pass and after it. */
  private static List<Candidate> exhaustive(StageCosts costs) {
    Oracle oracle = new PipelineOracle(costs, new PathFormula());
    List<Candidate> all = new ArrayList<>();
    for (ScheduledCuts cuts : SmallPipelines.all(costs, REQUEST, SmallPipelines.NONE)) {
      PipelinePlan plan = cuts.plan();
      all.add(candidate(plan, oracle));
      if (plan.sharding() != ZeroStage.NOTHING) {
        all.add(candidate(plan.overlapping(!plan.overlapGradients()), oracle));
      }
    }
    return all.stream().filter(each -> each.estimate().fits()).toList();
  }

  private static Candidate candidate(PipelinePlan plan, Oracle oracle) {
    return new Candidate(plan.kind(), plan, oracle.assess(plan), Optional.empty());
  }

  private static List<String> figures(List<Candidate> front) {
    return front.stream()
        .map(each -> "%.9g s, %.9g B".formatted(each.seconds(), each.peakBytes()))
        .toList();
  }

  @Test
  void theFrontIsThatOfExhaustiveSearch() {
    int points = 0;
    for (int instance = 0; instance < INSTANCES; instance++) {
      StageCosts costs = SmallPipelines.costs(new SplittableRandom(instance));
      Oracle oracle = new PipelineOracle(costs, new PathFormula());
      FrontSearch.Result found =
          FrontSearch.of(costs, oracle, oracle, FrontSearchTest::plan, EVERY, () -> false);
      List<Candidate> front = PlanFront.of(found.plans(), false);
      List<Candidate> expected = PlanFront.of(exhaustive(instance), false);
      assertEquals(figures(expected), figures(front), "instance " + instance);
      points += front.size();
    }
    assertTrue(points > 2 * INSTANCES, "points " + points);
  }

  /** No point excels another, and all other plans are excelled by one. */
  @Test
  void theFrontHasNoDominatedPointAndLeavesOutNoOther() {
    for (int instance = 0; instance < INSTANCES; instance++) {
      List<Candidate> plans = exhaustive(instance);
      for (boolean devices : new boolean[] {false, true}) {
        List<Candidate> front = PlanFront.of(plans, devices);
        for (Candidate plan : plans) {
          long excelling = front.stream().filter(each -> isAsGood(each, plan, devices)).count();
          assertTrue(front.contains(plan) ? excelling == 1 : excelling >= 1, plan.toString());
        }
      }
    }
  }

  private static boolean isAsGood(Candidate one, Candidate other, boolean devices) {
    return one.seconds() <= other.seconds()
        && one.peakBytes() <= other.peakBytes()
        && (!devices || one.plan().devices() <= other.plan().devices());
  }

  @Test
  void fewerSearchesFindAPartOfTheFront() {
    StageCosts costs = SmallPipelines.costs(new SplittableRandom(3));
    Oracle oracle = new PipelineOracle(costs, new PathFormula());
    List<Candidate> all =
        FrontSearch.of(costs, oracle, oracle, FrontSearchTest::plan, EVERY, () -> false).plans();
    for (int most = 1; most <= 4; most++) {
      FrontSearch.Result few =
          FrontSearch.of(
              costs, oracle, oracle, FrontSearchTest::plan, new Steps(0.1, most), () -> false);
      assertTrue(few.searches() <= most);
      assertTrue(all.containsAll(few.plans()));
      assertEquals(
          PlanFront.of(all, false).get(0).seconds(),
          PlanFront.of(few.plans(), false).get(0).seconds());
    }
    assertEquals(
        1,
        FrontSearch.of(costs, oracle, oracle, FrontSearchTest::plan, EVERY, () -> true).searches());
  }
}
