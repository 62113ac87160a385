package dev.pipewright.planner;

import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.PeakMemory;
import dev.pipewright.cost.StageCost;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.units.Units;
import java.util.List;

/** Says in a sentence what a plan's step time consists of and what keeps it from being shorter. */
final class Binding {
  private Binding() {}

  static String of(Candidate candidate) {
    Assessment assessment = candidate.estimate();
    PipelinePlan plan = candidate.plan();
    double step = candidate.seconds();
    double[] busy = RankWork.seconds(plan, assessment.stages());
    int slowest = RankWork.busiest(busy);
    double compute = busy[slowest];
    boolean severalStages = plan.stages().size() > busy.length;
    double reduce = 0;
    double link = 0;
    int tightest = 0;
    List<PeakMemory> memory = assessment.memory();
    for (int s = 0; s < assessment.stages().size(); s++) {
      StageCost stage = assessment.stages().get(s);
      reduce = Math.max(reduce, stage.exposedAllReduceSeconds());
      link = Math.max(link, Math.max(stage.sendSeconds(), stage.returnSeconds()));
      if (memory.get(s).share() > memory.get(tightest).share()) {
        tightest = s;
      }
    }
    String what =
        link * plan.microBatches() > compute
            ? "link"
            : compute >= 0.5 * step ? "compute" : "all-reduce";
    return what
        + (severalStages ? ": rank " : ": stage ")
        + slowest
        + " computes "
        + Units.seconds(compute)
        + " of "
        + Units.seconds(step)
        + " ("
        + Units.percent(compute / step)
        + ")"
        + (reduce > 0 ? "; all-reduce adds up to " + Units.seconds(reduce) : "")
        + (link > 0 ? "; a transfer takes up to " + Units.seconds(link) : "")
        + "; stage "
        + tightest
        + " uses "
        + Units.percent(memory.get(tightest).share())
        + " of its memory"
        + (recomputes(plan) ? ", with recomputation" : "");
  }

  private static boolean recomputes(PipelinePlan plan) {
    return plan.stages().stream()
        .anyMatch(stage -> stage.recompute() != dev.pipewright.plan.Recompute.NONE);
  }
}
