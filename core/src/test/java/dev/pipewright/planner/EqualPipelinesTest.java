package dev.pipewright.planner;

import static dev.pipewright.planner.SmallPipelines.BATCH;
import static dev.pipewright.planner.SmallPipelines.NONE;
import static dev.pipewright.planner.SmallPipelines.all;
import static dev.pipewright.planner.SmallPipelines.choices;
import static dev.pipewright.planner.SmallPipelines.costs;
import static dev.pipewright.planner.SmallPipelines.tight;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.Link;
import dev.pipewright.cost.PathFormula;
import dev.pipewright.cost.PipelineOracle;
import dev.pipewright.cost.Samples;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.units.Bytes;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** The search for pipelines of equal ranks against exhaustive search. */
class EqualPipelinesTest {
  private static final int INSTANCES = 200;
  private static final int DIVIDED = 60; // instances with divided tokens, which take longer
  private static final SearchEffort ALL_GRIDS = new SearchEffort(99, 2, 12, 2, 40);
  private static final double ROUNDING = 1e-9;

  private static EqualPipelines pipelines(
      StageCosts costs, Request request, SearchEffort effort, List<Parallelism> kinds) {
    EqualPipelines pipelines =
        new EqualPipelines(costs, request, choices(request), effort, () -> false);
    kinds.forEach(parallelism -> pipelines.add(parallelism, SmallPipelines.SHARDING));
    return pipelines;
  }

  /** All grids with all schedules, none left out, without moving cuts. */
  private static double exhaustive(StageCosts costs, Request request, List<Parallelism> kinds) {
    return all(costs, request, kinds).stream()
        .filter(ScheduledCuts::fits)
        .mapToDouble(ScheduledCuts::seconds)
        .min()
        .orElse(Double.POSITIVE_INFINITY);
  }

  @Test
  void smallInstancesAreAsGoodAsExhaustiveSearch() {
    areAsGoodAsExhaustiveSearch(Request.of(BATCH), false);
  }

  /** All stages recompute everything or nothing, under two schedules, pipelines side by side. */
  private static final Restriction ALL_OR_NOTHING =
      new Restriction() {
        @Override
        public boolean allows(String schedule) {
          return schedule.equals("1f1b") || schedule.equals("interleaved");
        }

        @Override
        public Optional<PipelinePlan> nearest(PipelinePlan plan) {
          if (!allows(plan.spec().scheduleName())) {
            return Optional.empty();
          }
          boolean none = plan.stages().stream().allMatch(s -> s.recompute() == Recompute.NONE);
          Recompute each = none ? Recompute.NONE : Recompute.STAGE_INPUT;
          return Optional.of(plan.with(plan.stages().stream().map(s -> s.with(each)).toList()));
        }
      };

  @Test
  void restrictedSearchesAreAsGoodAsExhaustiveSearch() {
    Request request = Request.of(BATCH).within(ALL_OR_NOTHING);
    int recomputing = 0;
    for (Candidate each : areAsGoodAsExhaustiveSearch(request, true)) {
      assertEquals(Optional.of(each.plan()), ALL_OR_NOTHING.nearest(each.plan()));
      recomputing += each.plan().stages().get(0).recompute() == Recompute.NONE ? 0 : 1;
    }
    assertTrue(recomputing > 10, "plans that recompute: " + recomputing);
  }

  /** All that is found. */
  private static List<Candidate> areAsGoodAsExhaustiveSearch(Request request, boolean little) {
    List<Candidate> all = new ArrayList<>();
    for (int instance = 0; instance < INSTANCES; instance++) {
      SplittableRandom random = new SplittableRandom(instance);
      StageCosts any = costs(random);
      StageCosts costs = little ? tight(any, random) : any;
      PipelineOracle oracle = new PipelineOracle(costs, new PathFormula());
      double expected = exhaustive(costs, request, NONE);
      all.addAll(
          asGoodAs(
              expected, costs, request, AutoPlanner.EFFORT, NONE, oracle, "instance " + instance));
    }
    return all;
  }

  /** What is found. */
  private static List<Candidate> asGoodAs(
      double expected,
      StageCosts costs,
      Request request,
      SearchEffort effort,
      List<Parallelism> kinds,
      PipelineOracle oracle,
      String what) {
    EqualPipelines pipelines = pipelines(costs, request, effort, kinds);
    List<Candidate> found = pipelines.search(oracle);
    assertEquals(Double.isFinite(expected), !found.isEmpty(), what);
    if (!found.isEmpty()) {
      double best = found.get(0).seconds();
      assertTrue(best <= expected * (1 + ROUNDING), what + ": " + best + " > " + expected);
      assertTrue(pipelines.leastSeconds() <= best * (1 + ROUNDING), what);
    }
    return found;
  }

  /** Mixtures of experts on two to four devices, some with less memory than the network needs. */
  @Test
  void smallMixturesAreAsGoodAsExhaustiveSearchOverContextAndExpertDegrees() {
    int gained = 0;
    int spread = 0;
    for (int instance = 0; instance < DIVIDED; instance++) {
      StageCosts costs = mixture(new SplittableRandom(instance));
      PipelineOracle oracle = new PipelineOracle(costs, new PathFormula());
      List<Parallelism> kinds = new ArrayList<>(List.of(Parallelism.NONE));
      for (int parts = 2; parts <= costs.workload().cluster().size(); parts *= 2) {
        kinds.add(Parallelism.of(Kind.CONTEXT, parts));
        kinds.add(Parallelism.of(Kind.EXPERT, parts));
        kinds.add(Parallelism.ofWholeSequences(parts));
        kinds.add(Parallelism.ofExpertCopies(parts / 2, 2));
        if (parts > 2) {
          kinds.add(Parallelism.ofCopies(parts / 2, 2));
        }
      }
      String what = "instance " + instance;
      Request request = Request.of(BATCH);
      double all = exhaustive(costs, request, kinds);
      asGoodAs(all, costs, request, ALL_GRIDS, kinds, oracle, what);
      double whole = exhaustive(costs, request, NONE);
      gained += all < whole ? 1 : 0;
      spread += Double.isFinite(all) ? 1 : 0;
    }
    assertTrue(gained > DIVIDED / 10, "faster with divided tokens: " + gained);
    assertTrue(spread > DIVIDED / 2, "fit: " + spread);
  }

  static StageCosts mixture(SplittableRandom random) {
    String network =
        "mixtral:layers=%d,hidden=%d,heads=4,kv-heads=2,ffn=%d,sequence=%d,vocabulary=%d,experts=%d,chosen=2"
            .formatted(
                random.nextInt(1, 4),
                128 << random.nextInt(2),
                1024 << random.nextInt(4),
                256 << random.nextInt(5),
                1000 * random.nextInt(1, 4),
                4 << random.nextInt(2));
    StageCosts any = AutoPlannerTest.zoo(network, "dgx-h100:1x4");
    Workload of = any.workload();
    double bandwidth = Math.pow(10, random.nextDouble(11, 13));
    Cluster devices =
        Samples.plain(List.of(Link.of(1e-6, bandwidth)), random.nextBoolean() ? 2 : 4);
    double states = any.staticBytes(0, any.size());
    Bytes memory = Bytes.of(states * random.nextDouble(0.3, 3));
    return new StageCosts(
        new Workload(of.chain(), of.profile(), of.training(), devices.withMemory(memory)));
  }
}
