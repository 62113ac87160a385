package dev.pipewright.sim;

import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.Conditions.Transfers;
import java.util.HashMap;
import java.util.Map;

/**
 * The routes of messages between neighbouring stages, one for each pair of ranks and direction, and
 * when a message arrives.
 */
final class Routes {
  private final OpTimes times;
  private final boolean queued;
  private final int[] there; // by cut: its way forward
  private final int[] back;
  private final double[] free; // by way

  Routes(Placement placement, OpTimes times, Transfers transfers) {
    this.times = times;
    queued = transfers == Transfers.QUEUED;
    int cuts = queued ? placement.stages() : 0;
    there = new int[cuts];
    back = new int[cuts];
    Map<Long, Integer> ways = new HashMap<>();
    for (int cut = 0; cut < cuts; cut++) {
      if (!placement.last(cut)) {
        there[cut] = way(ways, placement.rankOf(cut), placement.rankOf(cut + 1));
        back[cut] = way(ways, placement.rankOf(cut + 1), placement.rankOf(cut));
      }
    }
    free = new double[ways.size()];
  }

  private static int way(Map<Long, Integer> ways, int from, int to) {
    int size = ways.size();
    Integer known = ways.putIfAbsent((long) from << 32 | to, size);
    return known == null ? size : known;
  }

  /** When a message that leaves one stage for its neighbour at {@code now} arrives. */
  double arrival(int from, int to, double now) {
    double seconds = seconds(from, to);
    if (!queued) {
      return now + seconds;
    }
    int way = to > from ? there[from] : back[to];
    free[way] = Math.max(now, free[way]) + seconds;
    return free[way];
  }

  /** How long such a message takes alone. */
  double seconds(int from, int to) {
    return to > from ? times.there()[from] : times.back()[to];
  }
}
