package dev.pipewright.planner;

import dev.pipewright.cost.StageCost;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.schedule.Placement;
import java.util.Arrays;
import java.util.List;

/** Seconds in which the ranks of a pipeline compute and exchange messages. */
public final class RankWork {
  private RankWork() {}

  /** Of computing in a step, by rank. */
  public static double[] seconds(PipelinePlan plan, List<StageCost> stages) {
    Placement placement = plan.placement();
    double[] work = new double[placement.ranks()];
    double each = (double) plan.microBatches() / placement.chains();
    for (int stage = 0; stage < placement.stages(); stage++) {
      StageCost cost = stages.get(stage % placement.depth());
      work[placement.rankOf(stage)] += each * (cost.forwardSeconds() + cost.backwardSeconds());
    }
    return work;
  }

  /** The rank that computes longest; of equals the first. */
  public static int busiest(double[] seconds) {
    int busiest = 0;
    for (int rank = 1; rank < seconds.length; rank++) {
      busiest = seconds[rank] > seconds[busiest] ? rank : busiest;
    }
    return busiest;
  }

  /**
   * Of a micro-batch: on the rank that computes longest, or of the messages between two ranks that
   * take longest.
   */
  static double mostSeconds(PipelinePlan plan, List<StageCost> stages) {
    double work = Arrays.stream(seconds(plan, stages)).max().orElseThrow() / plan.microBatches();
    return Math.max(work, mostMessageSeconds(plan.placement(), stages));
  }

  /** Messages from one rank to another go one after the other. */
  private static double mostMessageSeconds(Placement placement, List<StageCost> stages) {
    double[][] messages = new double[placement.ranks()][placement.ranks()];
    double most = 0;
    for (int stage = 0; stage < placement.stages(); stage++) {
      int rank = placement.rankOf(stage);
      int next = placement.last(stage) ? rank : placement.rankOf(stage + 1);
      if (next != rank) {
        StageCost cost = stages.get(stage % placement.depth());
        messages[rank][next] += cost.sendSeconds() / placement.chains();
        messages[next][rank] += cost.returnSeconds() / placement.chains();
        most = Math.max(most, Math.max(messages[rank][next], messages[next][rank]));
      }
    }
    return most;
  }
}
