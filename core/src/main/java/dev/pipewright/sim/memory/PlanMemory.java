package dev.pipewright.sim.memory;

import dev.pipewright.cost.StageCost;
import dev.pipewright.cost.StageCost.StageMemory;
import dev.pipewright.sim.Run;
import dev.pipewright.trace.RankMemory;
import java.util.List;

/**
 * What each device of a plan's stages holds over a simulated step, by category, as the oracle
 * counts it: messages on their way are not in it.
 */
public final class PlanMemory {
  private PlanMemory() {}

  /** By stage; all devices of a stage hold the same. */
  public static List<RankMemory> of(List<StageCost> stages, Run run) {
    return RunMemory.of(run, stages.stream().map(stage -> bytes(stage.memory())).toList());
  }

  private static StageBytes bytes(StageMemory memory) {
    return new StageBytes(
        memory.states().parameters(),
        memory.states().gradients(),
        memory.states().optimizer(),
        memory.heldBytes(),
        0,
        memory.lastBytes(),
        1,
        memory.workingBytes(),
        0);
  }
}
