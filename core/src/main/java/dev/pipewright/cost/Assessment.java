package dev.pipewright.cost;

import java.util.List;

/**
 * An oracle's answer for a plan.
 *
 * @param oracle the cost model's or simulator's name
 * @param stepSeconds one step: every micro-batch forward and backward, gradients reduced
 * @param stages per stage, in order
 */
public record Assessment(String oracle, double stepSeconds, List<StageCost> stages) {
  public Assessment {
    stages = List.copyOf(stages);
  }

  /** The first stage that does not fit, or -1. */
  public int firstThatDoesNotFit() {
    for (int stage = 0; stage < stages.size(); stage++) {
      if (!stages.get(stage).memory().fits()) {
        return stage;
      }
    }
    return -1;
  }

  public boolean fits() {
    return firstThatDoesNotFit() < 0;
  }

  /** The largest peak of any device. */
  public double peakBytes() {
    return stages.stream().mapToDouble(stage -> stage.memory().peakBytes()).max().orElse(0);
  }
}
