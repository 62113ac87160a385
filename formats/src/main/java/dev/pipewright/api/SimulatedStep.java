package dev.pipewright.api;

import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.PlanMemory;
import dev.pipewright.cost.PlanTimeline;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.sim.Run;
import dev.pipewright.trace.RankMemory;
import dev.pipewright.trace.Timeline;
import java.util.List;

/**
 * A simulated step of a plan.
 *
 * @param run when each op starts and ends, in seconds
 * @param timeline the same as lanes of devices, with transfers and memory
 * @param memory bytes that each device of a rank holds over time, by category; by rank
 */
public record SimulatedStep(Run run, Timeline timeline, List<RankMemory> memory) {
  public SimulatedStep {
    memory = List.copyOf(memory);
  }

  /**
   * A run of a plan.
   *
   * @param prices of its stages
   */
  public static SimulatedStep of(PipelinePlan plan, Assessment prices, Run run) {
    List<RankMemory> memory = PlanMemory.of(prices.stages(), run);
    return new SimulatedStep(run, PlanTimeline.of(plan, prices, run, memory), memory);
  }

  /** Seconds from the first op to the end of the last update. */
  public double seconds() {
    return timeline.stepSeconds();
  }

  /** Share of the step in which a device does not compute, on average over the devices. */
  public double idleShare() {
    return timeline.idleShare();
  }

  /** The most bytes that any device holds. */
  public double peakBytes() {
    return memory.stream().mapToDouble(rank -> rank.peak().bytes()).max().orElse(0);
  }
}
