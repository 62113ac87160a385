package dev.pipewright.cost;

import dev.pipewright.plan.PipelinePlan;
import java.util.List;
import java.util.stream.IntStream;

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

  /** The stages of the plan that its devices cannot hold, in order. */
  public List<Misfit> misfits(PipelinePlan plan) {
    return IntStream.range(0, memory.size())
        .filter(stage -> !memory.get(stage).fits())
        .mapToObj(stage -> Misfit.of(plan, stage, memory.get(stage)))
        .toList();
  }

  public boolean fits() {
    return memory.stream().allMatch(PeakMemory::fits);
  }

  /** The largest peak of any device. */
  public double peakBytes() {
    return memory.stream().mapToDouble(PeakMemory::peakBytes).max().orElse(0);
  }
}
