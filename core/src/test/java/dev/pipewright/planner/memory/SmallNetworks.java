package dev.pipewright.planner.memory;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.Samples;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Shape;
import dev.pipewright.model.Training;
import dev.pipewright.model.Work;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.LayerSizes;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.profile.Provenance;
import dev.pipewright.units.Precision;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/** Random chains of layers of every kind that tensor parallelism knows, on small clusters. */
final class SmallNetworks {
  private SmallNetworks() {}

  /** Four devices at most, with more memory than anything needs. */
  static StageCosts costs(SplittableRandom random, int layers) {
    return costs(random, layers, Samples.cluster(random, 1L << 50));
  }

  static StageCosts costs(SplittableRandom random, int layers, Cluster cluster) {
    List<Layer> chain = new ArrayList<>();
    for (int i = 0; i < layers; i++) {
      chain.add(layer("layer-" + i, random.nextInt(5), random));
    }
    LayerGraph graph = LayerGraph.chain("small", chain);
    List<LayerSizes> sizes = new ArrayList<>();
    for (Layer layer : chain) {
      sizes.add(
          new LayerSizes(
              4.0 * layer.outputElements(),
              4.0 * layer.keptElements(),
              4.0 * layer.parameters() * random.nextInt(1, 4)));
    }
    List<List<LayerTimes>> times = new ArrayList<>();
    for (int slice : List.of(1, 2, 4)) {
      List<LayerTimes> table = new ArrayList<>();
      for (int i = 0; i < layers; i++) {
        double forward = Samples.skewed(random, 1) * (0.5 + slice);
        double backward = Samples.skewed(random, 2) * (0.5 + slice);
        table.add(new LayerTimes(forward, backward, Double.NaN, Samples.skewed(random, 0.1)));
      }
      times.add(table);
    }
    Profile profile =
        new Profile(
            new Provenance("random", "k", "", false),
            Precision.FP32,
            sizes,
            List.of(1, 2, 4),
            times);
    Training training = new Training(Optimizer.ADAM, Precision.FP32);
    return new StageCosts(new Workload(Chain.of(graph), profile, training, cluster));
  }

  private static Layer layer(String name, int kind, SplittableRandom random) {
    int width = random.nextInt(2, 40);
    int rows = random.nextInt(1, 8);
    long states = (long) rows * width;
    long weights =
        switch (kind) {
          case 0 -> 12L * width * width + 13L * width;
          case 1, 2 -> (long) width * random.nextInt(1, 100);
          case 3 -> (long) width * random.nextInt(1, 9);
          default -> 0;
        };
    Operator operator =
        switch (kind) {
          case 0 -> new Operator.Block("transformer block");
          case 1 -> new Operator.Linear(width, random.nextInt(1, 40), true);
          case 2 -> new Operator.Embedding(random.nextInt(2, 100), width);
          case 3 ->
              new Operator.Convolution(
                  3, width, List.of(3), List.of(1), List.of(1), List.of(1), 1, true);
          default -> new Operator.Elementwise("relu");
        };
    long kept = kind == 0 ? 17 * states + 5L * rows * rows : random.nextInt(1, 300);
    double flop = 2.0 * weights * rows;
    return new Layer(
        name,
        operator,
        Optional.of(Shape.of(rows, width)),
        weights,
        states,
        kept,
        new Work(flop, flop, flop, 80.0 * states));
  }
}
