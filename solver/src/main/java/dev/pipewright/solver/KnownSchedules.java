package dev.pipewright.solver;

import dev.pipewright.schedule.GPipe;
import dev.pipewright.schedule.Interleaved;
import dev.pipewright.schedule.InterleavedZeroBubble;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.OneForwardOneBackwardV;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Program;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.ZeroBubbleH1;
import dev.pipewright.schedule.ZeroBubbleH2;
import dev.pipewright.schedule.search.AdaptiveV;
import dev.pipewright.schedule.search.ZeroBubbleAuto;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.StaticSimulator;
import dev.pipewright.solver.ScheduleProblem.Goal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** The best schedule for a problem that needs no search: what a search has to beat. */
final class KnownSchedules {
  private KnownSchedules() {}

  /** Empty where even one micro-batch at a time is too much for a cap. */
  static Optional<Run> best(ScheduleProblem problem) {
    Run best = null;
    for (Schedule schedule : all(problem)) {
      Run run = StaticSimulator.run(schedule, problem.times());
      if (fits(run, problem.cap())
          && (best == null || value(run, problem) < value(best, problem))) {
        best = run;
      }
    }
    return Optional.ofNullable(best);
  }

  /** What is to be as short as possible. */
  static double value(Run run, ScheduleProblem problem) {
    return problem.goal() == Goal.MAKESPAN ? run.makespan() : run.longestSpan();
  }

  static boolean fits(Run run, int[] cap) {
    int[] peaks = run.peakActivations();
    for (int rank = 0; rank < peaks.length; rank++) {
      if (peaks[rank] > cap[rank]) {
        return false;
      }
    }
    return true;
  }

  private static List<Schedule> all(ScheduleProblem problem) {
    List<Schedule> all = new ArrayList<>(List.of(oneAtATime(problem)));
    if (!problem.placement().straight()) {
      severalStages(problem, all);
      return all;
    }
    int stages = problem.placement().stages();
    int microBatches = problem.microBatches();
    int[] cap = Arrays.stream(problem.cap()).map(most -> Math.min(most, microBatches)).toArray();
    if (problem.split()) {
      all.add(ZeroBubbleH1.of(stages, microBatches));
      all.add(ZeroBubbleH2.of(stages, microBatches));
      double[] most = Arrays.stream(cap).asDoubleStream().toArray();
      all.add(ZeroBubbleAuto.of(microBatches, problem.times(), most));
    } else {
      all.add(GPipe.of(stages, microBatches));
      all.add(OneForwardOneBackward.of(microBatches, ahead(cap, 1)));
      all.add(OneForwardOneBackward.of(microBatches, ahead(cap, 2)));
    }
    return all;
  }

  private static void severalStages(ScheduleProblem problem, List<Schedule> all) {
    Placement placement = problem.placement();
    int ranks = placement.ranks();
    int chunks = placement.stages() / ranks;
    int microBatches = problem.microBatches();
    if (ranks == 1) {
      return;
    }
    if (same(placement, Placement.looped(ranks, chunks))) {
      all.add(
          problem.split()
              ? InterleavedZeroBubble.of(ranks, chunks, microBatches)
              : Interleaved.of(ranks, chunks, microBatches));
    } else if (same(placement, Placement.waves(ranks, 2))) {
      if (problem.split()) {
        Arrays.stream(problem.cap())
            .map(most -> Math.min(most, 2 * ranks + 2))
            .filter(most -> most >= 2)
            .distinct()
            .forEach(most -> all.add(AdaptiveV.of(microBatches, problem.times(), most)));
      } else {
        all.add(OneForwardOneBackwardV.of(ranks, microBatches));
      }
    }
  }

  private static boolean same(Placement one, Placement other) {
    boolean same =
        one.ranks() == other.ranks()
            && one.chains() == other.chains()
            && one.stages() == other.stages();
    for (int stage = 0; same && stage < one.stages(); stage++) {
      same = one.rankOf(stage) == other.rankOf(stage);
    }
    return same;
  }

  /** Forward passes ahead: one more, or two, for each stage that follows, as the caps allow. */
  private static int[] ahead(int[] cap, int perStage) {
    int[] ahead = new int[cap.length];
    int most = Integer.MAX_VALUE;
    for (int stage = 0; stage < cap.length; stage++) {
      most = Math.min(most, cap[stage]);
      ahead[stage] = Math.min(most, perStage * (cap.length - 1 - stage) + 1);
    }
    return ahead;
  }

  private static Schedule oneAtATime(ScheduleProblem problem) {
    Placement placement = problem.placement();
    Program[] programs = new Program[placement.ranks()];
    Arrays.setAll(programs, rank -> new Program());
    for (int i = 0; i < problem.microBatches(); i++) {
      for (int first = 0; first < placement.stages(); first += placement.depth()) {
        for (int stage = first; stage < first + placement.depth(); stage++) {
          programs[placement.rankOf(stage)].add(Pass.FORWARD, stage, i);
        }
        for (int stage = first + placement.depth() - 1; stage >= first; stage--) {
          Program program = programs[placement.rankOf(stage)];
          if (problem.split()) {
            program.add(Pass.BACKWARD_INPUT, stage, i).add(Pass.BACKWARD_WEIGHT, stage, i);
          } else {
            program.add(Pass.BACKWARD, stage, i);
          }
        }
      }
    }
    long[][] packed = new long[programs.length][];
    Arrays.setAll(packed, rank -> programs[rank].packed());
    return new Schedule("one-at-a-time", placement, problem.microBatches(), packed);
  }
}
