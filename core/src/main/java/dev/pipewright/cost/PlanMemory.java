package dev.pipewright.cost;

import dev.pipewright.cost.StageCost.StageMemory;
import dev.pipewright.cost.StageCost.States;
import dev.pipewright.schedule.Placement;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.memory.RunMemory;
import dev.pipewright.sim.memory.StageBytes;
import dev.pipewright.trace.RankMemory;
import dev.pipewright.trace.RankMemory.Category;
import dev.pipewright.trace.RankMemory.Peak;
import dev.pipewright.units.Bytes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * What each device of a plan holds over a simulated step, by category, as the oracle counts it:
 * messages on their way are not in it.
 */
public final class PlanMemory {
  private PlanMemory() {}

  /** By rank; all devices of a rank hold the same. */
  public static List<RankMemory> of(List<StageCost> stages, Run run) {
    return RunMemory.of(run, bytes(stages));
  }

  private static List<StageBytes> bytes(List<StageCost> stages) {
    return stages.stream().map(stage -> bytes(stage.memory())).toList();
  }

  /** The peak of each device of a stage, by stage: where in both directions, of the fuller rank. */
  static List<PeakMemory> peaks(Placement placement, List<StageCost> stages, Run run) {
    List<Peak> ranks = RunMemory.peaks(run, bytes(stages));
    List<PeakMemory> peaks = new ArrayList<>();
    for (int stage = 0; stage < placement.depth(); stage++) {
      int fullest = placement.rankOf(stage);
      for (int other = stage; other < placement.stages(); other += placement.depth()) {
        int rank = placement.rankOf(other);
        fullest = ranks.get(rank).bytes() > ranks.get(fullest).bytes() ? rank : fullest;
      }
      peaks.add(peak(ranks.get(fullest), capacity(placement, stages, fullest)));
    }
    return peaks;
  }

  private static PeakMemory peak(Peak peak, Bytes capacity) {
    double parameters = peak.of(Category.PARAMETERS);
    double gradients = peak.of(Category.GRADIENTS);
    double all = parameters + gradients + peak.of(Category.OPTIMIZER);
    return new PeakMemory(
        new States(parameters, gradients, all),
        peak.of(Category.ACTIVATIONS),
        peak.of(Category.BUFFERS), // no messages are counted
        capacity);
  }

  private static Bytes capacity(Placement placement, List<StageCost> stages, int rank) {
    return IntStream.range(0, placement.stages())
        .filter(stage -> placement.rankOf(stage) == rank)
        .mapToObj(stage -> stages.get(stage % placement.depth()).memory().capacity())
        .min(Comparator.comparingLong(Bytes::value))
        .orElseThrow();
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
        memory.recomputedBytes(),
        memory.workingBytes(),
        0);
  }
}
