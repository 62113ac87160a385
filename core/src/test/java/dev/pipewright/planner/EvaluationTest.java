package dev.pipewright.planner;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.PathFormula;
import dev.pipewright.cost.PipelineOracle;
import dev.pipewright.cost.SimulatedOracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.ScheduledPlanner.Choice;
import dev.pipewright.planner.recompute.Recomputation;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class EvaluationTest {
  private static final int BATCH = 8;

  /** Of any schedule, with sharded states and layers that devices divide. */
  @Test
  void noGivenPlanIsFasterThanItsBound() {
    List<Choice> choices = AutoPlanner.choices(Request.of(BATCH));
    StageCosts costs =
        AutoPlannerTest.zoo("gpt:layers=8,hidden=512,heads=8,sequence=256", "dgx-h100:2x4");
    int compared = 0;
    for (int instance = 0; instance < 80; instance++) {
      SplittableRandom random = new SplittableRandom(instance);
      Choice choice = choices.get(random.nextInt(choices.size()));
      int parts = 1 << random.nextInt(2);
      int ranks = 1 << random.nextInt(3);
      Grid grid =
          new Grid(
              ranks,
              8 / parts / ranks,
              parts == 1 ? Parallelism.NONE : Parallelism.of(Kind.SEQUENCE, parts),
              Arrangement.BY_RANK,
              choice.chunks(),
              ZeroStage.NOTHING);
      ZeroStage sharding = ranks == 1 ? ZeroStage.PARAMETERS : ZeroStage.OPTIMIZER;
      Grid sharded = grid.sums() && random.nextBoolean() ? grid.sharding(sharding) : grid;
      MicroBatching batching = new MicroBatching(1, BATCH, 1);
      PipelineOracle oracle = new PipelineOracle(costs, new PathFormula());
      for (ScheduledCuts cuts :
          SmallPipelines.cuts(choice, sharded, batching, costs, Recomputation.SELECTIVE, oracle)) {
        Planning planning =
            Evaluation.of(
                costs, cuts.plan(), BATCH, CostModel.PIPEWRIGHT, new SimulatedOracle(oracle));
        double seconds = planning.best().map(Candidate::seconds).orElseThrow();
        double bound = planning.lowerBound().value();
        assertTrue(bound > 0 && bound <= seconds * (1 + 1e-9), () -> bound + " > " + seconds);
        compared++;
      }
    }
    assertTrue(compared > 30, "compared " + compared);
  }

  /** Whole states fit no device, so that a bound of plans without sharding counts two stages. */
  @Test
  void dataParallelismThatShardsParametersIsNotFasterThanItsBound() {
    StageCosts costs = AutoPlannerTest.zoo("llama3-8b", "dgx-h100:1x8");
    Grid grid = new Grid(1, 8, Parallelism.NONE, Arrangement.BY_RANK, 1, ZeroStage.PARAMETERS);
    PipelineOracle oracle = new PipelineOracle(costs, new PathFormula());
    Choice first = AutoPlanner.choices(Request.of(BATCH)).get(0);
    ScheduledCuts cuts =
        SmallPipelines.cuts(
                first, grid, new MicroBatching(1, BATCH, 1), costs, Recomputation.SELECTIVE, oracle)
            .get(0);
    Planning planning =
        Evaluation.of(costs, cuts.plan(), BATCH, CostModel.PIPEWRIGHT, new SimulatedOracle(oracle));
    double seconds = planning.best().map(Candidate::seconds).orElseThrow();
    double bound = planning.lowerBound().value();
    assertTrue(bound <= seconds * (1 + 1e-9), () -> bound + " > " + seconds);
  }
}
