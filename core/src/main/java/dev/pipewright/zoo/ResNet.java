package dev.pipewright.zoo;

import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.LayerGraph.Edge;
import java.util.ArrayList;
import java.util.List;

/**
 * ResNet with bottleneck blocks, operator by operator; shortcuts are edges, projections branches.
 *
 * <p>Source: K. He et al., <i>Deep residual learning for image recognition</i>, CVPR 2016,
 * arXiv:1512.03385, Table 1. Departs: the 3 × 3 convolution of a block has the stride, as in
 * today's implementations ("v1.5"); the parameters are the same.
 *
 * <p>A sample is a 224 × 224 image. Kept are a convolution's output (the normalisation reads it
 * again) and a ReLU's, which overwrites the normalisation's.
 */
final class ResNet {
  private static final int CLASSES = 1000;

  private final List<Layer> layers = new ArrayList<>();
  private final List<Edge> edges = new ArrayList<>();

  private ResNet() {}

  static LayerGraph resnet50() {
    return new ResNet().graph("resnet-50", new int[] {3, 4, 6, 3});
  }

  private LayerGraph graph(String name, int[] blocks) {
    FeatureMap image = new FeatureMap(3, 224);
    FeatureMap stem = image.to(64, 2);
    int last = add(image.input());
    last = add(image.convolution("conv1", 64, 7, 2, true), last);
    last = add(stem.normalization("bn1"), last);
    last = add(stem.relu("relu1"), last);
    last = add(stem.maxPooling("maxpool", 3, 2, 1), last);
    FeatureMap map = stem.to(64, 2);
    for (int stage = 0; stage < blocks.length; stage++) {
      for (int block = 1; block <= blocks[stage]; block++) {
        int stride = block == 1 && stage > 0 ? 2 : 1;
        String prefix = "layer" + (stage + 1) + "." + block + ".";
        last = bottleneck(prefix, map, last, 64 << stage, stride, block == 1);
        map = map.to(256 << stage, stride);
      }
    }
    last = add(map.globalPooling("avgpool"), last);
    add(new FeatureMap(map.channels(), 1).fullyConnected("fc", CLASSES), last);
    return new LayerGraph(name, layers, edges);
  }

  /**
   * 1 × 1, 3 × 3, 1 × 1, beside them the identity or a projection; returns the number of its last
   * layer.
   */
  private int bottleneck(
      String prefix, FeatureMap in, int from, int width, int stride, boolean projects) {
    FeatureMap narrow = in.to(width, 1);
    FeatureMap reduced = in.to(width, stride);
    FeatureMap out = in.to(4 * width, stride);
    int last = add(in.convolution(prefix + "conv1", width, 1, 1, false), from);
    last = add(narrow.normalization(prefix + "bn1"), last);
    last = add(narrow.relu(prefix + "relu1"), last);
    last = add(narrow.convolution(prefix + "conv2", width, 3, stride, false), last);
    last = add(reduced.normalization(prefix + "bn2"), last);
    last = add(reduced.relu(prefix + "relu2"), last);
    last = add(reduced.convolution(prefix + "conv3", 4 * width, 1, 1, false), last);
    last = add(out.normalization(prefix + "bn3"), last);
    int shortcut = from;
    if (projects) {
      shortcut = add(in.convolution(prefix + "projection", 4 * width, 1, stride, false), from);
      shortcut = add(out.normalization(prefix + "projection.bn"), shortcut);
    }
    last = add(out.sum(prefix + "add"), last, shortcut);
    return add(out.relu(prefix + "relu3"), last);
  }

  private int add(Layer layer, int... readsFrom) {
    int number = layers.size();
    layers.add(layer);
    for (int from : readsFrom) {
      edges.add(new Edge(from, number));
    }
    return number;
  }
}
