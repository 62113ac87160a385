package dev.pipewright.planner;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.AllReduce;
import dev.pipewright.cost.SplitConcat;
import dev.pipewright.cost.StageCosts;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What the device sets of a {@link PlacementSpace} have to do with prices; worked out once each.
 */
final class PlacementCosts {
  private final StageCosts costs;
  private final PlacementSpace space;
  private final List<Placed> placed = new ArrayList<>(); // by placement number
  private final Map<Long, Transfer> transfers = new HashMap<>();

  /** One device set: its all-reduce, its slowest device, its smallest memory in bytes. */
  record Placed(AllReduce allReduce, double slowdown, double capacity) {}

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
    return new Placed(AllReduce.over(costs.workload().cluster(), devices), slowdown, capacity);
  }

  Transfer transfer(int from, int to) {
    Long key = (long) from << 32 | to;
    Transfer known = transfers.get(key);
    if (known == null) {
      Cluster cluster = costs.workload().cluster();
      int[] senders = space.devices(from);
      int[] receivers = space.devices(to);
      known =
          new Transfer(
              SplitConcat.between(cluster, senders, receivers),
              SplitConcat.between(cluster, receivers, senders));
      transfers.put(key, known);
    }
    return known;
  }
}
