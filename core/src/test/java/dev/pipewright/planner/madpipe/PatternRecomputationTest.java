package dev.pipewright.planner.madpipe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.planner.madpipe.PlacedPattern.Placed;
import dev.pipewright.planner.recompute.EveryChoice;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.schedule.periodic.Discipline;
import dev.pipewright.schedule.periodic.Discipline.Dropping;
import dev.pipewright.schedule.periodic.Discipline.Star;
import dev.pipewright.schedule.periodic.OneForwardOneBackwardStar;
import dev.pipewright.schedule.periodic.PatternCheck;
import dev.pipewright.schedule.periodic.StageLoad;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

/** Devices with several stages whose layers may run again. */
class PatternRecomputationTest {
  private static PeriodicProblem problem(SplittableRandom random, int most) {
    LayerChain chain = Chains.withInputs(random, most);
    return new PeriodicProblem(chain, random.nextInt(2, 5), random.nextInt(5, 26));
  }

  /** Runs, within memory counted anew from the layers that run again. */
  private static void check(PeriodicProblem problem, PlacedPattern plan) {
    assertEquals(List.of(), PatternCheck.check(plan.pattern()), plan::toString);
    double[] bytes = new double[problem.devices()];
    int[] held = plan.pattern().concurrentActivations();
    for (int s = 0; s < plan.stages().size(); s++) {
      Placed stage = plan.stages().get(s);
      StageLoad load = problem.chain().stage(stage.first(), stage.end());
      if (!stage.again().isEmpty()) {
        load =
            problem
                .chain()
                .stage(
                    stage.first(),
                    stage.end(),
                    problem.chain().given(stage.first(), stage.end(), stage.again()));
      }
      assertEquals(load, plan.pattern().stages().get(2 * s), plan::toString);
      bytes[stage.device()] += load.stateBytes() + held[2 * s] * load.activationBytes();
    }
    for (double all : bytes) {
      assertTrue(all <= problem.capacityBytes(), plan::toString);
    }
  }

  private static double seconds(PeriodicProblem problem, Discipline discipline) {
    Optional<PlacedPattern> plan =
        MadPipe.plan(problem, discipline, Double.POSITIVE_INFINITY, () -> false);
    plan.ifPresent(found -> check(problem, found));
    return plan.map(PlacedPattern::secondsPerBatch).orElse(Double.POSITIVE_INFINITY);
  }

  @RepeatedTest(200)
  void plansRunWithinMemoryAndAreNoSlowerThanThoseThatKeepAll(RepetitionInfo seed) {
    var random = new SplittableRandom(5000 + seed.getCurrentRepetition());
    PeriodicProblem problem = problem(random, 7);
    Discipline discipline = random.nextBoolean() ? new Star() : new Dropping(random.nextInt(1, 3));
    PeriodicProblem some = problem.recomputing(Recomputation.SELECTIVE);
    double selective = seconds(some, discipline);
    assertTrue(selective <= seconds(problem, discipline));
    assertTrue(selective >= PeriodBounds.all(some).get(0).value() * (1 - 1e-9));
    PeriodicProblem all = problem.recomputing(Recomputation.ALWAYS);
    assertTrue(seconds(all, discipline) >= PeriodBounds.all(all).get(0).value() * (1 - 1e-9));
  }

  @Test
  void layersThatRunAgainMakeManyPlansPossibleOrFaster() {
    int possible = 0;
    int faster = 0;
    for (int seed = 1; seed <= 200; seed++) {
      PeriodicProblem problem = problem(new SplittableRandom(5000 + seed), 7);
      double before = seconds(problem, new Star());
      double after = seconds(problem.recomputing(Recomputation.SELECTIVE), new Star());
      possible += before == Double.POSITIVE_INFINITY && after < before ? 1 : 0;
      faster += before < Double.POSITIVE_INFINITY && after < before ? 1 : 0;
    }
    assertTrue(possible >= 5 && faster >= 50, possible + " and " + faster);
  }

  private static Allocation allocation(
      PeriodicProblem problem, SplittableRandom random, boolean apart) {
    int[] devices = new int[problem.chain().layers()];
    for (int layer = 1; layer < devices.length; layer++) {
      int last = devices[layer - 1];
      boolean stays = random.nextBoolean() || (apart && last == problem.devices() - 1);
      devices[layer] = stays ? last : apart ? last + 1 : random.nextInt(problem.devices());
    }
    return Allocation.of(problem, devices);
  }

  /** Whether some choice of layers for each stage fits with the groups of the period. */
  private static boolean possible(
      Allocation allocation, double period, List<StageLoad> loads, int stage) {
    if (stage == allocation.stages().size()) {
      return fits(allocation, period, loads);
    }
    Placed placed = allocation.stages().get(stage);
    LayerChain chain = allocation.problem().chain();
    boolean[] found = {false};
    EveryChoice.of(
        placed.end() - placed.first(),
        runs -> {
          var again =
              runs.stream()
                  .map(run ->
                      new dev.pipewright.plan.LayerRange(
                          placed.first() + run.first(), placed.first() + run.last()))
                  .toList();
          if (!found[0]) {
            List<StageLoad> more = new ArrayList<>(loads);
            more.add(
                chain.stage(
                    placed.first(),
                    placed.end(),
                    chain.given(placed.first(), placed.end(), again)));
            found[0] = possible(allocation, period, more, stage + 1);
          }
        });
    return found[0];
  }

  private static boolean fits(Allocation allocation, double period, List<StageLoad> stages) {
    double[] cuts = new double[stages.size() - 1];
    for (int cut = 0; cut < cuts.length; cut++) {
      cuts[cut] =
          allocation.problem().chain().transferSeconds(allocation.stages().get(cut + 1).first());
    }
    List<StageLoad> loads = StageLoad.withTransfers(stages, cuts);
    double[] busy = new double[allocation.rankCount()];
    for (int stage = 0; stage < loads.size(); stage++) {
      busy[allocation.rank(stage)] += loads.get(stage).seconds();
    }
    if (Arrays.stream(busy).anyMatch(seconds -> seconds > period)) {
      return false;
    }
    int[] groups = OneForwardOneBackwardStar.groups(loads, period);
    double[] bytes = new double[allocation.problem().devices()];
    for (int stage = 0; stage < stages.size(); stage++) {
      StageLoad load = stages.get(stage);
      bytes[allocation.rank(2 * stage)] +=
          load.stateBytes() + groups[2 * stage] * load.activationBytes();
    }
    return Arrays.stream(bytes).allMatch(all -> all <= allocation.problem().capacityBytes());
  }

  private static boolean relieved(Allocation allocation, double period) {
    Optional<Allocation> found = PatternRecomputation.of(allocation, new Star(), period, 0);
    found.ifPresent(all -> {
      List<StageLoad> stages = new ArrayList<>();
      for (Placed placed : all.stages()) {
        stages.add(PlacedPattern.load(all.problem().chain(), placed));
      }
      assertTrue(fits(all, period, stages), all.stages()::toString);
    });
    return found.isPresent();
  }

  @RepeatedTest(200)
  void withOneStageOnADeviceEveryPeriodIsMetThatCanBe(RepetitionInfo seed) {
    var random = new SplittableRandom(6000 + seed.getCurrentRepetition());
    PeriodicProblem problem = problem(random, 6).recomputing(Recomputation.SELECTIVE);
    Allocation allocation = allocation(problem, random, true);
    double period = Math.rint(allocation.busiest() * random.nextDouble(1, 2));
    boolean possible = possible(allocation, period, List.of(), 0);
    assertEquals(possible, relieved(allocation, period), allocation.stages()::toString);
  }

  @Test
  void withSeveralMostAre() {
    int possible = 0;
    int met = 0;
    for (int seed = 1; seed <= 300; seed++) {
      var random = new SplittableRandom(7000 + seed);
      PeriodicProblem problem = problem(random, 6).recomputing(Recomputation.SELECTIVE);
      Allocation allocation = allocation(problem, random, false);
      double period = Math.rint(allocation.busiest() * random.nextDouble(1, 2));
      boolean found = relieved(allocation, period);
      boolean exists = possible(allocation, period, List.of(), 0);
      assertTrue(exists || !found, "seed " + seed);
      possible += exists ? 1 : 0;
      met += found ? 1 : 0;
    }
    assertTrue(possible >= 100 && met >= 0.97 * possible, met + " of " + possible);
  }
}
