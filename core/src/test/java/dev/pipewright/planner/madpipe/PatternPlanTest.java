package dev.pipewright.planner.madpipe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.PatternPlan;
import dev.pipewright.plan.PatternPlan.Stage;
import dev.pipewright.plan.Recompute;
import dev.pipewright.planner.madpipe.PlacedPattern.Placed;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.periodic.Discipline;
import dev.pipewright.schedule.periodic.Pattern;
import dev.pipewright.schedule.periodic.PatternCheck;
import dev.pipewright.schedule.periodic.RepeatedOp;
import dev.pipewright.sim.repeated.PatternTasks;
import dev.pipewright.sim.repeated.RepeatedRun;
import dev.pipewright.sim.repeated.Task;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class PatternPlanTest {
  @RepeatedTest(200)
  void everyKindOfPlanIsTheSameWhenPricedAnewAndRunsAsItSays(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    LayerChain chain = Chains.random(random, 8);
    int devices = random.nextInt(1, 4);
    double all = chain.stateBytes(0, chain.layers()) + 8 * chain.activationBytes(0, chain.layers());
    var problem = new PeriodicProblem(chain, devices, all * random.nextDouble(0.2, 1.2) / devices);
    PeriodicPlanning planning = PeriodicPlanner.plan(problem, () -> false);
    Stream.of(planning.plain(), planning.star(), planning.dropping(), planning.general())
        .flatMap(Optional::stream)
        .forEach(plan -> check(plan, problem));
  }

  @RepeatedTest(200)
  void soIsOneWhoseLayersRunAgain(RepetitionInfo seed) {
    var random = new SplittableRandom(4000 + seed.getCurrentRepetition());
    LayerChain chain = Chains.withInputs(random, 6);
    Recomputation kind = random.nextInt(4) == 0 ? Recomputation.ALWAYS : Recomputation.SELECTIVE;
    var problem =
        new PeriodicProblem(chain, random.nextInt(1, 4), random.nextInt(5, 26)).recomputing(kind);
    PeriodicPlanning planning = PeriodicPlanner.plan(problem, () -> false);
    Stream.of(planning.plain(), planning.star(), planning.dropping(), planning.general())
        .flatMap(Optional::stream)
        .forEach(plan -> check(plan, problem));
  }

  private static void check(PlacedPattern plan, PeriodicProblem problem) {
    PlacedPattern again = PlacedPattern.of(plan.plan(8), problem);
    assertEquals(plan.stages(), again.stages());
    assertEquals(plan.pattern().stages(), again.pattern().stages());
    assertEquals(plan.pattern().ops(), again.pattern().ops());
    assertEquals(List.of(), PatternCheck.check(again.pattern()), plan::toString);
    runs(again, problem);
  }

  private static void runs(PlacedPattern plan, PeriodicProblem problem) {
    Pattern pattern = plan.pattern();
    int batches = pattern.batches();
    List<Task> tasks = PatternTasks.of(pattern, true);
    int rounds = 2 * RepeatedRun.rounds(tasks, batches) + 24;
    int ranks = pattern.placement().ranks();
    RepeatedRun run = RepeatedRun.of(tasks, ranks, batches, pattern.period(), rounds);
    assertEquals(plan.secondsPerBatch(), run.period(24) / batches, 1e-9 * plan.secondsPerBatch());
    List<Task> eager = PatternTasks.of(pattern, false);
    double early = RepeatedRun.of(eager, ranks, batches, 0, rounds).period(24) / batches;
    assertTrue(early <= plan.secondsPerBatch() * (1 + 1e-9), plan::toString);
    double[] peaks = run.peaks(PatternTasks.taken(pattern), PatternTasks.released(pattern));
    double[] most = plan.bytes(problem.devices());
    for (int s = 0; s < plan.stages().size(); s++) {
      peaks[plan.stages().get(s).device()] += pattern.stages().get(2 * s).stateBytes();
    }
    for (Placed stage : plan.stages()) {
      assertTrue(peaks[stage.device()] <= most[stage.device()] * (1 + 1e-12), plan::toString);
    }
  }

  @Test
  void stagesFollowEachOtherOnOtherDevices() {
    assertRefused(
        "stages[1] begins at layer 3, but the one before ends at 1; let it begin at 2",
        new Stage(0, 2, 0),
        new Stage(3, 4, 1));
    assertRefused(
        "stages[1] and the one before are both on device 0; make them one stage",
        new Stage(0, 2, 0),
        new Stage(2, 4, 0));
    assertRefused("stages[0] ends before it begins; give it layers", new Stage(0, 0, 0));
  }

  @Test
  void runsOfLayersThatRunAgainBeginAndEndWhereTheNetworkIsCut() {
    LayerChain chain = Chains.of(1, 1, 2, 2, 1, 1, 1, 1).cutOnlyAt(new int[] {0, 1, 3, 4});
    var problem = new PeriodicProblem(chain, 1, 99);
    Stage inside = new Stage(0, 4, 0, List.of(new LayerRange(1, 1)));
    List<RepeatedOp> ops =
        List.of(new RepeatedOp(Pass.FORWARD, 0, 0, 0), new RepeatedOp(Pass.BACKWARD, 0, 5, 0));
    var shape = new PatternPlan(new Discipline.Star(), 1, 10, 1, List.of(inside), ops);
    var refusal =
        assertThrows(IllegalArgumentException.class, () -> PlacedPattern.of(shape, problem));
    assertEquals(
        "a run of layers that run again begins or ends at 2, where branches run side by side or"
            + " there is no layer; begin it elsewhere",
        refusal.getMessage());
    Stage outside = new Stage(0, 4, 0, List.of(new LayerRange(1, 2)));
    PlacedPattern plan =
        PlacedPattern.of(
            new PatternPlan(new Discipline.Star(), 1, 10, 1, List.of(outside), ops), problem);
    assertEquals(2.5 + 1.5, plan.pattern().stages().get(0).backwardSeconds());
    assertEquals(Recompute.SELECTIVE, plan.stages().get(0).recompute());
    assertEquals(List.of(new LayerRange(1, 1)), plan.stages().get(0).again());
  }

  private static void assertRefused(String words, Stage... stages) {
    var refusal =
        assertThrows(IllegalArgumentException.class, () -> PatternPlan.inOrder(List.of(stages)));
    assertEquals(words, refusal.getMessage());
  }
}
