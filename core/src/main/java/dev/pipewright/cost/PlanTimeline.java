package dev.pipewright.cost;

import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.schedule.Placement;
import dev.pipewright.sim.Recorder;
import dev.pipewright.sim.Run;
import dev.pipewright.trace.RankMemory;
import dev.pipewright.trace.Timeline;
import dev.pipewright.trace.Timeline.Memory;
import java.util.ArrayList;
import java.util.List;

/** The timeline of a simulated step of a plan, with its transfers and the memory of its devices. */
public final class PlanTimeline {
  private PlanTimeline() {}

  /**
   * The timeline of a run at the given prices.
   *
   * @param memory of each rank
   */
  public static Timeline of(
      PipelinePlan plan, Assessment priced, Run run, List<RankMemory> memory) {
    Placement placement = plan.placement();
    List<Memory> curves = new ArrayList<>();
    for (RankMemory rank : memory) {
      int stage = 0;
      while (placement.rankOf(stage) != rank.rank()) {
        stage++;
      }
      curves.add(curve(rank, priced.memory().get(stage % placement.depth())));
    }
    List<StageCost> stages = priced.stages();
    return Recorder.timeline(
        run,
        plan.devicesByRank(),
        stages.stream().mapToDouble(StageCost::sendSeconds).toArray(),
        stages.stream().mapToDouble(StageCost::returnSeconds).toArray(),
        curves);
  }

  static Memory curve(RankMemory memory, PeakMemory sizes) {
    return new Memory(
        memory.rank(),
        sizes.staticBytes(),
        sizes.capacity().value(),
        memory.total().seconds(),
        memory.total().bytes());
  }
}
