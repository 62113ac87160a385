package dev.pipewright.planner;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.Collectives;
import dev.pipewright.cost.SplitConcat;
import dev.pipewright.cost.StageCosts;
import java.util.ArrayList;
import java.util.List;

/**
 * What the device sets of a {@link PlacementSpace} have to do with prices; worked out once each.
 */
final class PlacementCosts {
  private final StageCosts costs;
  private final PlacementSpace space;
  private final List<Placed> placed = new ArrayList<>(); // by placement number
  private final List<Transfer> transfers = new ArrayList<>(); // by pair number

  /** One device set: its collectives, its slowest device, its smallest memory in bytes. */
  record Placed(Collectives group, double slowdown, double capacity) {}

  /** Between a device set and that of the next stage. */
  record Transfer(SplitConcat there, SplitConcat back) {}

  PlacementCosts(StageCosts costs, PlacementSpace space) {
    this.costs = costs;
    this.space = space;
  }

  PlacementSpace space() {
    return space;
  }

  Placed placed(int placement) {
    while (placed.size() <= placement) {
      placed.add(place(space.devices(placed.size())));
    }
    return placed.get(placement);
  }

  private Placed place(int[] devices) {
    double slowdown = 0;
    double capacity = Double.POSITIVE_INFINITY;
    for (int device : devices) {
      slowdown = Math.max(slowdown, costs.slowdown(device));
      capacity =
          Math.min(capacity, (double) costs.workload().cluster().device(device).memory().value());
    }
    return new Placed(
        Collectives.achieved(costs.workload().cluster(), devices), slowdown, capacity);
  }

  Transfer transfer(int pair) {
    while (transfers.size() <= pair) {
      Cluster cluster = costs.workload().cluster();
      int[] senders = space.senders(transfers.size());
      int[] receivers = space.receivers(transfers.size());
      transfers.add(
          new Transfer(
              SplitConcat.betweenPasses(cluster, senders, receivers),
              SplitConcat.betweenPasses(cluster, receivers, senders)));
    }
    return transfers.get(pair);
  }
}
