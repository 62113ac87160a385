package dev.pipewright.zoo;

import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.LayerGraph.Edge;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * AmoebaNet-D: a stem, two reduction cells, and three stages of normal cells with a reduction cell
 * between two. Every cell reads the two cells before it; a cell is a layer.
 *
 * <p>Source: E. Real et al., <i>Regularized evolution for image classifier architecture search</i>,
 * AAAI 2019, arXiv:1802.01548, Figure 2 and the genotype "D" of its published implementation; Y.
 * Huang et al., <i>GPipe</i>, NeurIPS 2019, whose AmoebaNet-D (L, D) has L normal cells. DAPPLE's
 * 933 million parameters are those of 36 cells with 512, 1024 and 2048 filters in the three stages.
 *
 * <p>A sample is a 224 × 224 image; there are 1001 classes (one for the background).
 */
final class AmoebaNet {
  private static final int CLASSES = 1001;

  private final List<Layer> layers = new ArrayList<>();
  private final List<FeatureMap> outputs = new ArrayList<>();
  private final List<Edge> edges = new ArrayList<>();

  private AmoebaNet() {}

  static LayerGraph amoebaNet36() {
    return new AmoebaNet().graph("amoebanet-36", 12, 512);
  }

  private LayerGraph graph(String name, int cellsOfStage, int filters) {
    FeatureMap image = FeatureMap.square(3, 224);
    add(image.input(), image);
    stem(FeatureMap.square(32, 111));
    cell("stem-cell-1", AmoebaCell.firstReduction(output(1), filters / 4));
    reduction("stem-cell-2", filters / 2);
    int number = 0;
    for (int stage = 0; stage < 3; stage++) {
      if (stage > 0) {
        reduction("reduction-" + stage, filters << stage);
      }
      for (int i = 0; i < cellsOfStage; i++) {
        String cell = "cell-" + ++number;
        cell(cell, AmoebaCell.normal(output(1), output(2), filters << stage));
      }
    }
    head();
    return new LayerGraph(name, layers, edges);
  }

  /** The output of the layer that was added {@code back} layers ago. */
  private FeatureMap output(int back) {
    return outputs.get(outputs.size() - back);
  }

  private void stem(FeatureMap out) {
    AmoebaCell stem = new AmoebaCell();
    stem.convolution(output(1), out, 3, 3);
    add(stem.layer("stem", out, true), out);
  }

  private void reduction(String name, int filters) {
    cell(name, AmoebaCell.reduction(output(1), output(2), filters));
  }

  private void cell(String name, AmoebaCell cell) {
    FeatureMap out = cell.output();
    boolean readsTwo = layers.size() > 2;
    add(cell.layer(name, out, false), out);
    if (readsTwo) {
      edges.add(new Edge(layers.size() - 3, layers.size() - 1));
    }
  }

  /** The average over the map, then the product. */
  private void head() {
    FeatureMap map = output(1);
    Layer pooling = map.globalPooling("head");
    FeatureMap features = FeatureMap.features(map.channels());
    Layer product = features.fullyConnected("head", CLASSES);
    add(
        new Layer(
            "head",
            new Operator.Linear(map.channels(), CLASSES, true),
            Optional.of(Shape.of(CLASSES)),
            product.parameters(),
            CLASSES,
            features.elements() + CLASSES,
            pooling.work().plus(product.work())),
        FeatureMap.features(CLASSES));
  }

  private void add(Layer layer, FeatureMap output) {
    if (!layers.isEmpty()) {
      edges.add(new Edge(layers.size() - 1, layers.size()));
    }
    layers.add(layer);
    outputs.add(output);
  }
}
