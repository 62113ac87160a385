package dev.pipewright.cost;

import java.util.List;

/**
 * An oracle's answer for a plan.
 *
 * @param oracle the cost model's or simulator's name
 * @param stepSeconds one step: every micro-batch forward and backward, gradients reduced
 * @param stages per stage, in order
 * @param memory of each device of a stage, with the other stages that it holds; by stage
 */
public record Assessment(
    String oracle, double stepSeconds, List<StageCost> stages, List<PeakMemory> memory) {
  public Assessment {
    stages = List.copyOf(stages);
    memory = List.copyOf(memory);
  }

  /** Of stages that have devices of their own. */
  public Assessment(String oracle, double stepSeconds, List<StageCost> stages) {
    this(
        oracle,
        stepSeconds,
        stages,
        stages.stream().map(stage -> stage.memory().device()).toList());
  }

  /** The first stage that does not fit, or -1. */
  public int firstThatDoesNotFit() {
    for (int stage = 0; stage < memory.size(); stage++) {
      if (!memory.get(stage).fits()) {
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
    return memory.stream().mapToDouble(PeakMemory::peakBytes).max().orElse(0);
  }
}
