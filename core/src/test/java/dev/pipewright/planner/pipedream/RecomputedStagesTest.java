package dev.pipewright.planner.pipedream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cost.AsynchronousCosts;
import dev.pipewright.cost.Samples;
import dev.pipewright.cost.StageCost.StageMemory;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.plan.AsynchronousPlan;
import dev.pipewright.plan.AsynchronousPlan.Rule;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RecomputedStagesTest {
  /** A pipeline of up to four stages on a device each. */
  private static AsynchronousPlan plan(StageCosts costs, SplittableRandom random) {
    int most = Math.min(costs.size(), costs.workload().cluster().size());
    int count = random.nextInt(1, Math.min(4, most) + 1);
    List<StagePlan> stages = new ArrayList<>();
    for (int s = 0; s < count; s++) {
      int first = s * costs.size() / count;
      int last = (s + 1) * costs.size() / count - 1;
      stages.add(new StagePlan(first, last, List.of(s), Recompute.NONE, count - s));
    }
    return new AsynchronousPlan(Rule.PIPEDREAM, count, 2, 1, stages);
  }

  @Test
  void stagesRunAgainWhereThatMakesThemFitAndNowhereElse() {
    int helped = 0;
    int hopeless = 0;
    for (int seed = 1; seed <= 300; seed++) {
      var random = new SplittableRandom(seed);
      StageCosts costs = Samples.costs(random, Samples.chain(random.nextInt(1, 9)), 4);
      AsynchronousPlan plan = plan(costs, random);
      AsynchronousPlan found = RecomputedStages.where(costs, plan);
      List<StageMemory> before = new AsynchronousCosts(costs, plan).memory();
      List<StageMemory> after = new AsynchronousCosts(costs, found).memory();
      for (int s = 0; s < before.size(); s++) {
        StagePlan stage = plan.stages().get(s);
        double again =
            costs.staticBytes(stage.firstLayer(), stage.lastLayer() + 1)
                + (plan.versions(s) - 1) * new AsynchronousCosts(costs, plan).weightBytes(s)
                + stage.inFlight() * costs.inputBytes(stage.firstLayer(), 2)
                + costs.recomputedBytes(stage.firstLayer(), stage.lastLayer() + 1, 2);
        boolean could = again <= before.get(s).capacity().value();
        boolean helps = !before.get(s).fits() && could;
        Recompute expected = helps ? Recompute.STAGE_INPUT : Recompute.NONE;
        assertEquals(expected, found.stages().get(s).recompute(), "seed " + seed);
        assertEquals(before.get(s).fits() || could, after.get(s).fits(), "seed " + seed);
        helped += helps ? 1 : 0;
        hopeless += after.get(s).fits() ? 0 : 1;
      }
    }
    assertTrue(helped >= 5 && hopeless >= 5, helped + " helped, " + hopeless + " hopeless");
  }

  @Test
  void everywhereMeansEveryStage() {
    var random = new SplittableRandom(1);
    AsynchronousPlan plan = plan(Samples.costs(random, Samples.chain(8), 4), random);
    assertTrue(
        IntStream.range(0, plan.stages().size())
            .allMatch(s ->
                RecomputedStages.everywhere(plan).stages().get(s).recompute()
                    == Recompute.STAGE_INPUT));
  }
}
