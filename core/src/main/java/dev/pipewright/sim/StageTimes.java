package dev.pipewright.sim;

import dev.pipewright.cost.StageCost;
import dev.pipewright.units.Check;
import java.util.List;

/**
 * Seconds by stage, for one micro-batch: forward and backward pass, transfer of the activation to
 * the next stage and of the gradient back from it; and once per step the tail after the last
 * backward pass (all-reduce, then update).
 */
public record StageTimes(
    double[] forward,
    double[] backward,
    double[] there,
    double[] back,
    double[] allReduce,
    double[] update) {
  public StageTimes {
    for (double[] seconds : new double[][] {forward, backward, there, back, allReduce, update}) {
      Check.that(
          seconds.length == forward.length,
          "one time per stage: times=%d, stages=%d",
          seconds.length,
          forward.length);
      for (double value : seconds) {
        Check.amount(value, "stage seconds");
      }
    }
  }

  /** Equal stages and nothing else. */
  public static StageTimes uniform(int stages, double forward, double backward) {
    double[] none = new double[stages];
    double[] f = none.clone();
    double[] b = none.clone();
    java.util.Arrays.fill(f, forward);
    java.util.Arrays.fill(b, backward);
    return new StageTimes(f, b, none, none, none, none);
  }

  /** The times of the stages of a priced plan. */
  public static StageTimes of(List<StageCost> stages) {
    return new StageTimes(
        stages.stream().mapToDouble(StageCost::forwardSeconds).toArray(),
        stages.stream().mapToDouble(StageCost::backwardSeconds).toArray(),
        stages.stream().mapToDouble(StageCost::sendSeconds).toArray(),
        stages.stream().mapToDouble(StageCost::returnSeconds).toArray(),
        stages.stream().mapToDouble(StageCost::exposedAllReduceSeconds).toArray(),
        stages.stream().mapToDouble(StageCost::updateSeconds).toArray());
  }

  public int stages() {
    return forward.length;
  }
}
