package dev.pipewright.predict.paradl;

import dev.pipewright.cost.Collectives;
import dev.pipewright.predict.paradl.Setting.Exchange;

/**
 * Seconds to sum gradients over the devices that hold the same weights.
 *
 * <p>Gradients of split positions are sums over the group; all others only over the groups. What
 * only some devices sum with each other travels layer by layer where the software does not fuse it:
 * a product with what follows it up to the next.
 */
final class GradientExchange {
  private final SplitCase split;
  private final Collectives inside;
  private final Collectives across;
  private final Collectives leaders;
  private final Collectives everybody;

  GradientExchange(SplitCase split, GroupPlacement placement) {
    this.split = split;
    Layout layout = split.layout();
    boolean spatial = split.split() == Strategy.Split.POSITIONS;
    this.inside = spatial ? placement.insideGroups(layout) : Collectives.NONE;
    this.across = placement.acrossGroups(layout);
    this.leaders = spatial ? placement.leaders(layout) : Collectives.NONE;
    this.everybody = spatial ? placement.everybody(layout) : Collectives.NONE;
  }

  double seconds(Exchange how) {
    boolean fused =
        !split.layout().strategy().hybrid()
            || how == Exchange.CHEAPEST
            || split.network().workload().cluster().software().fusesGroups();
    double seconds = 0;
    double own = 0;
    double shared = 0;
    for (int layer = 0; layer < split.size(); layer++) {
      if (!fused && split.layer(layer).kind().product()) {
        seconds += message(own, shared, how);
        own = 0;
        shared = 0;
      }
      if (sharedByGroup(layer)) {
        shared += split.exchangedBytes(layer);
      } else {
        own += split.exchangedBytes(layer);
      }
    }
    return seconds + message(own, shared, how);
  }

  private boolean sharedByGroup(int layer) {
    return split.split() == Strategy.Split.POSITIONS
        && split.layout().parts() > 1 // a group of one has no sums of its own
        && split.share(layer).split();
  }

  private double message(double own, double shared, Exchange how) {
    return reduced(own, across, how) + spatial(shared, how);
  }

  private double spatial(double bytes, Exchange how) {
    return switch (how) {
      case USUAL, LEADER ->
          split.layout().groups() > 1 ? throughLeaders(bytes, how) : reduced(bytes, everybody, how);
      case CHEAPEST -> Math.min(reduced(bytes, everybody, how), throughLeaders(bytes, how));
      case RING, TREE, HIERARCHICAL -> reduced(bytes, everybody, how);
    };
  }

  private double throughLeaders(double bytes, Exchange how) {
    return inside.reduce(bytes) + reduced(bytes, leaders, how) + inside.broadcast(bytes);
  }

  private static double reduced(double bytes, Collectives group, Exchange how) {
    if (bytes == 0 || group.members() == 1) {
      return 0;
    }
    return switch (how) {
      case USUAL, RING, LEADER -> group.ringAllReduce(bytes);
      case TREE -> group.treeAllReduce(bytes);
      case HIERARCHICAL -> group.hierarchicalAllReduce(bytes);
      case CHEAPEST -> group.allReduce(bytes);
    };
  }
}
