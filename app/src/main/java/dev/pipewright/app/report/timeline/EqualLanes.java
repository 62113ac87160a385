package dev.pipewright.app.report.timeline;

import dev.pipewright.app.report.chart.Look;
import dev.pipewright.trace.Timeline.Lane;
import dev.pipewright.trace.Timeline.Slice;
import java.util.ArrayList;
import java.util.List;

/** Stages that share a line, as their passes take the same time. */
final class EqualLanes {
  /** Stages up to which each has a line of its own. */
  static final int MOST_STAGES = 16;

  private EqualLanes() {}

  /**
   * Where there are more than {@value #MOST_STAGES} stages, neighbours whose work takes the same
   * time come together, so that runs of them take about that many lines in all.
   */
  static List<List<Lane.Compute>> of(Shown run) {
    List<Lane.Compute> lanes = run.ranks();
    int most = lanes.size() <= MOST_STAGES ? 1 : Math.ceilDiv(lanes.size(), MOST_STAGES - 4);
    List<List<Lane.Compute>> groups = new ArrayList<>();
    for (Lane.Compute lane : lanes) {
      List<Lane.Compute> last = groups.isEmpty() ? List.of() : groups.get(groups.size() - 1);
      if (last.isEmpty() || last.size() == most || !alike(last.get(0), lane)) {
        last = new ArrayList<>();
        groups.add(last);
      }
      last.add(lane);
    }
    return groups;
  }

  /** Whether forward and backward passes of two stages take the same time in all. */
  private static boolean alike(Lane.Compute one, Lane.Compute other) {
    double[] first = seconds(one);
    double[] second = seconds(other);
    for (int kind = 0; kind < first.length; kind++) {
      if (Math.abs(first[kind] - second[kind]) > 1e-3 * Math.max(first[kind], second[kind])) {
        return false;
      }
    }
    return true;
  }

  private static double[] seconds(Lane.Compute lane) {
    double[] seconds = new double[Look.values().length];
    for (Slice slice : lane.slices()) {
      seconds[Look.of(slice.kind()).number] += slice.microBatch() < 0 ? 0 : slice.seconds();
    }
    return seconds;
  }
}
