package dev.pipewright.solver;

import dev.pipewright.schedule.periodic.StageLoad;
import java.util.List;

/**
 * The referee: all patterns of whole periods whose ops take and start at whole seconds. Every op of
 * every batch gets a second of the period; each batch then waits the least for its next op, which
 * holds the fewest activations; these are counted by time, not by batch. Batches may overtake each
 * other.
 */
final class EveryPattern {
  private final PatternProblem problem;
  private final int period;
  private final int links;
  private final int[] starts; // by batch and place in the chain

  private EveryPattern(PatternProblem problem, int period) {
    this.problem = problem;
    this.period = period;
    links = 2 * problem.stages().size();
    starts = new int[links * problem.batches()];
  }

  static boolean exists(PatternProblem problem, int period) {
    return new EveryPattern(problem, period).place(1); // the first op starts at 0
  }

  private int stage(int op) {
    return Math.min(op % links, links - 1 - op % links);
  }

  private int seconds(int op) {
    StageLoad load = problem.stages().get(stage(op));
    return (int) (op % links < links / 2 ? load.forwardSeconds() : load.backwardSeconds());
  }

  private boolean place(int op) {
    if (op == starts.length) {
      return fits();
    }
    for (int start = 0; start < period; start++) {
      starts[op] = start;
      if (apart(op) && place(op + 1)) {
        return true;
      }
    }
    return false;
  }

  private boolean apart(int op) {
    for (int other = 0; other < op; other++) {
      boolean same =
          problem.placement().rankOf(stage(op)) == problem.placement().rankOf(stage(other));
      int gap = Math.floorMod(starts[op] - starts[other], period);
      if (same && (gap < seconds(other) || period - gap < seconds(op))) {
        return false;
      }
    }
    return true;
  }

  private boolean fits() {
    int[][] at = new int[problem.batches()][links];
    for (int op = 0; op < starts.length; op++) {
      int link = op % links;
      int[] batch = at[op / links];
      int ready = link == 0 ? 0 : batch[link - 1] + seconds(op - 1);
      batch[link] = ready + Math.floorMod(starts[op] - ready, period);
    }
    double[] bytes = new double[problem.placement().ranks()];
    List<StageLoad> stages = problem.stages();
    for (int stage = 0; stage < stages.size(); stage++) {
      StageLoad load = stages.get(stage);
      bytes[problem.placement().rankOf(stage)] +=
          load.stateBytes() + mostHeld(at, stage) * load.activationBytes();
    }
    for (int rank = 0; rank < bytes.length; rank++) {
      if (bytes[rank] > problem.capacityBytes()[rank]) {
        return false;
      }
    }
    return true;
  }

  /** At the moment after each forward pass has started: all turns of all batches that are there. */
  private int mostHeld(int[][] at, int stage) {
    int most = 0;
    int back = links - 1 - stage;
    for (int[] entering : at) {
      int held = 0;
      for (int[] batch : at) {
        int end = batch[back] + seconds(back);
        for (int turn = -3 * links; turn <= 3 * links; turn++) {
          int now = entering[stage] + turn * period;
          held += batch[stage] <= now && now < end ? 1 : 0;
        }
      }
      most = Math.max(most, held);
    }
    return most;
  }
}
