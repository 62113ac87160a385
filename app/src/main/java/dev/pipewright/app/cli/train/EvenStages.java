package dev.pipewright.app.cli.train;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.planner.partition.BlockPartition;
import dev.pipewright.planner.partition.OnePath;
import java.util.ArrayList;
import java.util.List;

/** Stages of as equal arithmetic as one-dimensional cuts give. */
final class EvenStages {
  private EvenStages() {}

  /**
   * So many stages.
   *
   * @throws BadInputException where the network cannot be cut into so many
   */
  static List<StageLayers> of(LayerGraph graph, int depth) {
    Chain chain = Chain.of(graph);
    int[] path = OnePath.positions(chain);
    double[] work =
        graph.layers().stream()
            .mapToDouble(
                l -> 1 + l.work().forward() + l.work().inputGradient() + l.work().weightGradient())
            .toArray();
    if (path.length < depth) {
      throw new BadInputException(
          "--stages: %s can be cut into at most %d stages, not %d; take fewer"
              .formatted(graph.name(), path.length, depth));
    }
    int[] firsts = BlockPartition.firsts(OnePath.weights(chain, path, work), depth);
    List<StageLayers> stages = new ArrayList<>();
    int first = 0;
    for (int stage = 0; stage < depth; stage++) {
      int last = stage + 1 < depth ? path[firsts[stage + 1] - 1] : chain.size() - 1;
      stages.add(StageLayers.keeping(first, last));
      first = last + 1;
    }
    return stages;
  }
}
