package dev.pipewright.planner.pipedream;

import dev.pipewright.model.LiteralAntichains;
import dev.pipewright.planner.pipedream.PipeDreamPlanning.Stage;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;

/** Scores a plan from nothing but its stages and their devices, level by level. */
record Rescored(Networks network, List<BandwidthLevel> levels, boolean charged) {

  double seconds(PipeDreamPlanning planning) {
    return pipeline(planning.stages(), levels.size() - 1);
  }

  /** Stages that share the same units of the level below are inside one of its stages. */
  private double pipeline(List<Stage> stages, int level) {
    double slowest = 0;
    for (int i = 0; i < stages.size(); ) {
      TreeSet<Integer> units = units(stages.get(i), level);
      List<Stage> group = new ArrayList<>();
      for (; i < stages.size() && units(stages.get(i), level).equals(units); i++) {
        group.add(stages.get(i));
      }
      boolean first = group.get(0).firstLayer() == stages.get(0).firstLayer();
      slowest = Math.max(slowest, stage(group, level, units.size(), first));
    }
    return slowest;
  }

  private double stage(List<Stage> group, int level, int units, boolean first) {
    int from = group.get(0).firstLayer();
    int last = group.get(group.size() - 1).lastLayer();
    double unit = level == 0 ? sum(network.seconds(), from, last) : pipeline(group, level - 1);
    double rate = levels.get(level).bytesPerSecond();
    int below = first && level > 0 ? levels.get(level - 1).units() : 1;
    double exchange =
        4 * (units - 1) * sum(network.parameters(), from, last) / (rate * units * below);
    double moved = 0;
    if (charged && !first) {
      double[] crossing = LiteralAntichains.crossing(network.chain(), network.outputs());
      double bytes = crossing[from - 1];
      if (last < crossing.length - 1) {
        bytes = Math.max(bytes, crossing[last]);
      }
      moved = 2 * bytes / (rate * units);
    }
    return Math.max((unit + exchange) / units, moved);
  }

  private TreeSet<Integer> units(Stage stage, int level) {
    int size = 1;
    for (int inner = 0; inner < level; inner++) {
      size *= levels.get(inner).units();
    }
    TreeSet<Integer> units = new TreeSet<>();
    for (int device : stage.devices()) {
      units.add(device / size % levels.get(level).units());
    }
    return units;
  }

  private double sum(double[] perLayer, int from, int last) {
    return Arrays.stream(network.chain().layers(from - 1, last))
        .mapToDouble(l -> perLayer[l])
        .sum();
  }
}
