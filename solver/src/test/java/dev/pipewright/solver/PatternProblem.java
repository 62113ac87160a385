package dev.pipewright.solver;

import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.periodic.StageLoad;
import dev.pipewright.units.Check;
import java.util.Arrays;
import java.util.List;

/**
 * A chain of stages on ranks, of which a pattern is asked. Transfers are stages on ranks of their
 * own, the links ({@link StageLoad#withTransfers}).
 *
 * @param placement of one chain; a rank may hold any stages, neighbours or not
 * @param capacityBytes by rank
 * @param batches that the pattern takes in a period: k
 */
public record PatternProblem(
    Placement placement, List<StageLoad> stages, double[] capacityBytes, int batches) {
  public PatternProblem {
    Check.that(
        placement.chains() == 1 && placement.stages() == stages.size(),
        "a pattern has one chain, placed stage by stage: chains=%d, placed=%d, stages=%d",
        placement.chains(),
        placement.stages(),
        stages.size());
    Check.that(
        capacityBytes.length == placement.ranks(),
        "one capacity per rank: capacities=%d, ranks=%d",
        capacityBytes.length,
        placement.ranks());
    Check.that(batches >= 1, "a pattern has batches: batches=%d", batches);
    checkLoads(stages);
    stages = List.copyOf(stages);
  }

  static void checkLoads(List<StageLoad> stages) {
    for (StageLoad load : stages) {
      Check.that(
          load.seconds() > 0 || load.activationBytes() == 0,
          "a stage that holds activations takes time: activation_bytes=%s",
          load.activationBytes());
    }
  }

  /** One stage per rank, memory for all. */
  public static PatternProblem of(List<StageLoad> stages, int batches) {
    double[] capacityBytes = new double[stages.size()];
    Arrays.fill(capacityBytes, Double.POSITIVE_INFINITY);
    Placement placement = Placement.straight(stages.size());
    return new PatternProblem(placement, stages, capacityBytes, batches);
  }

  /** The same with other memory, by rank. */
  public PatternProblem within(double... bytes) {
    return new PatternProblem(placement, stages, bytes, batches);
  }

  /** The same with the stages elsewhere, and memory by rank. */
  public PatternProblem on(Placement other, double... bytes) {
    return new PatternProblem(other, stages, bytes, batches);
  }

  /** The same with another number of batches in a period. */
  public PatternProblem taking(int other) {
    return new PatternProblem(placement, stages, capacityBytes, other);
  }
}
