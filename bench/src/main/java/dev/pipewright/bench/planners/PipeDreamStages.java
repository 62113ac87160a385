package dev.pipewright.bench.planners;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.Workload;
import dev.pipewright.planner.pipedream.BandwidthLevel;
import dev.pipewright.planner.pipedream.CutCosts;
import dev.pipewright.planner.pipedream.PipeDream2bwPlanner;
import dev.pipewright.planner.pipedream.PipeDream2bwPlanning;
import dev.pipewright.planner.pipedream.PipeDream2bwSetting;
import dev.pipewright.planner.pipedream.PipeDreamOptimizer;
import dev.pipewright.planner.pipedream.PipeDreamPlanning;
import dev.pipewright.profile.Profile.Quantity;
import java.util.ArrayList;
import java.util.List;

/** Stages as PipeDream and PipeDream-2BW plan them. */
public final class PipeDreamStages {
  static final String NAME = "pipedream";

  private PipeDreamStages() {}

  /** What the optimizer knows of mini-batches of so many samples. */
  public static CutCosts costs(Workload workload, int samples) {
    double[] seconds = workload.profile().seconds(Quantity.FORWARD, samples);
    double[] backward = workload.profile().seconds(Quantity.BACKWARD, samples);
    double[] outputs = workload.profile().outputBytes();
    for (int layer = 0; layer < seconds.length; layer++) {
      seconds[layer] += backward[layer];
      outputs[layer] *= samples;
    }
    return CutCosts.of(workload.chain(), seconds, workload.profile().parameterBytes(), outputs);
  }

  /** Groups of a cluster's levels, all alike, and the rate between two devices. */
  static List<BandwidthLevel> levels(Cluster cluster) {
    List<BandwidthLevel> levels = new ArrayList<>();
    int below = 1;
    for (int level = 0; level < cluster.levels().size(); level++) {
      int size = cluster.groups().get(level).get(0);
      double rate = cluster.levels().get(level).pointToPoint().bandwidth().value();
      levels.add(new BandwidthLevel(size / below, rate));
      below = size;
    }
    return levels;
  }

  /** The hierarchical optimizer, transfers of activations charged. */
  static List<Proposal> hierarchical(PlannedNetwork network) {
    PipeDreamPlanning planning =
        PipeDreamOptimizer.plan(
            costs(network.costs().workload(), network.miniBatch()),
            levels(network.cluster()),
            true,
            () -> false);
    return List.of(
        new Proposal.Stages(
            planning.stages().stream().map(PipeDreamPlanning.Stage::firstLayer).toList(),
            planning.stages().stream().map(PipeDreamPlanning.Stage::devices).toList()));
  }

  /** The best of all widths, depths and micro-batches, as far as its own memory model knows. */
  static List<Proposal> twoBuffers(PlannedNetwork network) {
    Workload workload = network.costs().workload();
    PipeDream2bwSetting setting =
        new PipeDream2bwSetting(
            network.chain(),
            workload.profile(),
            workload.training(),
            levels(network.cluster()),
            workload.cluster().device(0).memory().value(),
            network.globalBatch());
    return PipeDream2bwPlanner.plan(setting, () -> false).best().map(PipeDreamStages::of).stream()
        .toList();
  }

  private static Proposal of(PipeDream2bwPlanning.Candidate found) {
    return new Proposal.Stages(
        found.stages().stream().map(PipeDream2bwPlanning.Stage::firstLayer).toList(),
        found.stages().stream().map(PipeDream2bwPlanning.Stage::devices).toList());
  }
}
