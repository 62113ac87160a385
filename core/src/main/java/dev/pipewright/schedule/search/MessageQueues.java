package dev.pipewright.schedule.search;

import java.util.Arrays;

/** Messages from a rank to a neighbour go one after the other, in the order of their passes. */
final class MessageQueues {
  private final OpLanes lanes;
  private final double[] free; // when the last message has gone, by way

  MessageQueues(OpLanes lanes) {
    this.lanes = lanes;
    this.free = new double[lanes.ways()];
  }

  void clear() {
    Arrays.fill(free, 0);
  }

  /** When the message of a pass that ends now arrives at the rank that waits for it. */
  double arrival(int lane, double end) {
    int way = lanes.way[lane];
    double arrival = Math.max(end, free[way]) + lanes.transfer[lane];
    free[way] = arrival;
    return arrival;
  }
}
