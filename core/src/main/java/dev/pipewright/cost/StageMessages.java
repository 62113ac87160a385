package dev.pipewright.cost;

import dev.pipewright.cluster.Cluster;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;

/** What messages between the devices of two stages take, found once for each pair of them. */
final class StageMessages {
  private static final int MOST = 1 << 12;

  private final Cluster cluster;
  private final Map<Ends, SplitConcat> known = // seen lately
      Collections.synchronizedMap(new HashMap<>());

  /** The very arrays of devices that send and receive. */
  @SuppressWarnings("ArrayRecordComponent") // the same arrays are meant, which hash quickly
  private record Ends(int[] from, int[] to) {}

  StageMessages(Cluster cluster) {
    this.cluster = cluster;
  }

  /** Between passes. */
  SplitConcat of(StageGroups from, StageGroups to) {
    if (known.size() >= MOST) {
      known.clear();
    }
    return known.computeIfAbsent(
        new Ends(from.devices(), to.devices()),
        ends -> SplitConcat.betweenPasses(cluster, ends.from(), ends.to()));
  }
}
