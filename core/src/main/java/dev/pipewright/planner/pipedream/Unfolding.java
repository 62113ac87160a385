package dev.pipewright.planner.pipedream;

import dev.pipewright.planner.pipedream.PipeDreamPlanning.Stage;
import java.util.ArrayList;
import java.util.List;

/**
 * Deals out devices, machine by machine, to pipelines inside pipelines, and lists the innermost
 * stages. An outer stage of r units runs the same inner pipeline in each of them.
 */
final class Unfolding {
  private final CutCosts costs;
  private final int[] size; // devices of a unit, by level

  /** A stage with the devices that it has in one unit. */
  private record Leaf(
      int from, int to, List<Integer> replicas, List<Integer> devices, double exchange) {}

  Unfolding(CutCosts costs, List<BandwidthLevel> levels) {
    this.costs = costs;
    this.size = new int[levels.size()];
    size[0] = 1;
    for (int level = 1; level < size.length; level++) {
      size[level] = Math.multiplyExact(size[level - 1], levels.get(level - 1).units());
    }
  }

  /** The innermost stages of the outermost pipeline, in order. */
  List<Stage> stages(List<LevelStage> pipeline) {
    List<Leaf> leaves = leaves(pipeline, size.length - 1);
    List<Stage> stages = new ArrayList<>();
    int left = 0;
    for (int i = leaves.size() - 1; i >= 0; i--) {
      Leaf leaf = leaves.get(i);
      int devices = leaf.devices.size();
      left += devices;
      double compute = costs.exact(leaf.from, leaf.to);
      stages.add(
          0,
          new Stage(
              leaf.from,
              leaf.to - 1,
              leaf.replicas,
              leaf.devices,
              compute,
              compute / devices + leaf.exchange,
              (left + devices - 1) / devices));
    }
    return stages;
  }

  private List<Leaf> leaves(List<LevelStage> pipeline, int level) {
    List<Leaf> leaves = new ArrayList<>();
    int unit = 0;
    for (LevelStage node : pipeline) {
      int units = node.part().units();
      for (Leaf inner : inner(node, level)) {
        List<Integer> replicas = new ArrayList<>(inner.replicas);
        replicas.add(units);
        List<Integer> devices = new ArrayList<>();
        for (int u = unit; u < unit + units; u++) {
          for (int device : inner.devices) {
            devices.add(u * size[level] + device);
          }
        }
        double exchange = (inner.exchange + node.exchange()) / units;
        leaves.add(new Leaf(inner.from, inner.to, replicas, devices, exchange));
      }
      unit += units;
    }
    return leaves;
  }

  private List<Leaf> inner(LevelStage node, int level) {
    return level == 0
        ? List.of(new Leaf(node.part().from(), node.part().to(), List.of(), List.of(0), 0))
        : leaves(node.inside(), level - 1);
  }
}
