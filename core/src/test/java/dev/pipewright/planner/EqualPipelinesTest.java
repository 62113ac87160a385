package dev.pipewright.planner;

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
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.ScheduledPlanner.Choice;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class EqualPipelinesTest {
  private static final int INSTANCES = 200;
  private static final int BATCH = 8;
  private static final double ROUNDING = 1e-9;
  private static final List<ZeroStage> SHARDING = List.of(ZeroStage.OPTIMIZER);

  /** Up to eight layers on up to four devices. */
  private static StageCosts costs(SplittableRandom random) {
    StageCosts any = Samples.costs(random, Samples.chain(random.nextInt(2, 9)), BATCH);
    Workload of = any.workload();
    double bandwidth = Math.pow(10, random.nextDouble(7, 11));
    Cluster cluster =
        Samples.plain(List.of(Link.of(1e-5, bandwidth)), random.nextBoolean() ? 2 : 4);
    return new StageCosts(new Workload(of.chain(), of.profile(), of.training(), cluster));
  }

  /** Schedules that follow from counts alone: the others take a search each. */
  private static List<Choice> choices() {
    return AutoPlanner.choices(Request.of(BATCH)).stream()
        .filter(choice -> !choice.entry().needsDurations() && choice.chunks() <= 3)
        .toList();
  }

  private static EqualPipelines pipelines(StageCosts costs, EqualPipelines.Effort effort) {
    Request request = Request.of(BATCH);
    EqualPipelines pipelines = new EqualPipelines(costs, request, choices(), effort, () -> false);
    pipelines.add(Parallelism.NONE, SHARDING);
    return pipelines;
  }

  /** All grids with all schedules, none left out, without moving cuts. */
  private static double exhaustive(StageCosts costs) {
    PipelineOracle oracle = new PipelineOracle(costs, new PathFormula());
    Request request = Request.of(BATCH);
    int devices = costs.workload().cluster().size();
    double best = Double.POSITIVE_INFINITY;
    for (MicroBatching batching : MicroBatching.of(request, devices)) {
      for (int ranks = 1; ranks <= devices; ranks++) {
        int replicas = devices / ranks;
        if (ranks * replicas == devices && replicas <= batching.samples()) {
          for (Choice choice : choices()) {
            if (ranks > 1 || choice.equals(choices().get(0))) {
              for (boolean neighbours : new boolean[] {true, false}) {
                Grid grid =
                    new Grid(
                        ranks,
                        replicas,
                        Parallelism.NONE,
                        neighbours,
                        choice.chunks(),
                        replicas > 1 ? ZeroStage.OPTIMIZER : ZeroStage.NOTHING);
                best = Math.min(best, seconds(choice, grid, batching, costs, oracle));
              }
            }
          }
        }
      }
    }
    return best;
  }

  private static double seconds(
      Choice choice, Grid grid, MicroBatching batching, StageCosts costs, PipelineOracle oracle) {
    try {
      return ScheduledCuts.balanced(
              choice.entry(), grid, batching, costs, Request.of(BATCH).recomputation(), oracle)
          .map(cuts -> {
            cuts.price();
            return cuts.fits() ? cuts.seconds() : Double.POSITIVE_INFINITY;
          })
          .orElse(Double.POSITIVE_INFINITY);
    } catch (IllegalArgumentException e) { // no such schedule for these numbers
      return Double.POSITIVE_INFINITY;
    }
  }

  @Test
  void smallInstancesAreAsGoodAsExhaustiveSearch() {
    for (int instance = 0; instance < INSTANCES; instance++) {
      StageCosts costs = costs(new SplittableRandom(instance));
      PipelineOracle oracle = new PipelineOracle(costs, new PathFormula());
      double expected = exhaustive(costs);
      EqualPipelines pipelines = pipelines(costs, AutoPlanner.EFFORT);
      List<Candidate> found = pipelines.search(oracle);
      assertEquals(Double.isFinite(expected), !found.isEmpty(), "instance " + instance);
      if (!found.isEmpty()) {
        double best = found.get(0).seconds();
        assertTrue(best <= expected * (1 + ROUNDING), "instance " + instance);
        assertTrue(pipelines.leastSeconds() <= best * (1 + ROUNDING), "instance " + instance);
      }
    }
  }
}
