package dev.pipewright.bench.dapple;

import dev.pipewright.bench.dapple.GivenPlans.Scored;
import dev.pipewright.cost.StageCost;
import dev.pipewright.plan.Recompute;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Says in a sentence which part of a step makes one plan slower than another. */
final class Reasons {
  private Reasons() {}

  /** A part of a step that only depends on the plan. */
  private record Part(String what, double theirs, double ours) {
    double loss() {
      return theirs - ours;
    }
  }

  /** Why {@code theirs} takes longer than {@code ours}, or does not. */
  static String of(Scored theirs, Scored ours) {
    double loss = theirs.seconds() - ours.seconds();
    if (Math.abs(loss) <= 1e-4 * ours.seconds()) {
      return "as fast as ours";
    }
    if (loss < 0) {
      return "faster than ours by "
          + Units.percent(-loss / ours.seconds())
          + ": the planner missed it ("
          + Plans.words(theirs.plan())
          + ")";
    }
    List<Part> parts = new ArrayList<>();
    parts.add(new Part("the busiest stage computes", busy(theirs), busy(ours)));
    parts.add(new Part("all-reduce and update at the end take", tail(theirs), tail(ours)));
    parts.add(new Part("waiting (fill, drain, transfers) takes", wait(theirs), wait(ours)));
    parts.sort(Comparator.comparingDouble(Part::loss).reversed());
    Part worst = parts.get(0);
    String recompute =
        recomputes(theirs) && !recomputes(ours) ? "; it must recompute, ours need not" : "";
    return "loses "
        + Units.percent(loss / ours.seconds())
        + ": "
        + worst.what
        + " "
        + Units.seconds(worst.theirs)
        + " instead of "
        + Units.seconds(worst.ours)
        + recompute;
  }

  private static double busy(Scored scored) {
    double most = 0;
    for (StageCost stage : scored.simulated().stages()) {
      most = Math.max(most, stage.forwardSeconds() + stage.backwardSeconds());
    }
    return most * scored.plan().microBatches();
  }

  private static double tail(Scored scored) {
    double most = 0;
    for (StageCost stage : scored.simulated().stages()) {
      most = Math.max(most, stage.exposedAllReduceSeconds() + stage.updateSeconds());
    }
    return most;
  }

  private static double wait(Scored scored) {
    double rest = scored.seconds() - busy(scored) - tail(scored);
    return rest < 1e-9 * scored.seconds() ? 0 : rest;
  }

  private static boolean recomputes(Scored scored) {
    return scored.plan().stages().stream().anyMatch(stage -> stage.recompute() != Recompute.NONE);
  }
}
