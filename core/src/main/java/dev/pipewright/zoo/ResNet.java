package dev.pipewright.zoo;

import dev.pipewright.model.LayerGraph;

/**
 * ResNet, operator by operator; shortcuts are edges, projections branches.
 *
 * <p>Source: K. He et al., <i>Deep residual learning for image recognition</i>, CVPR 2016,
 * arXiv:1512.03385, Table 1. Departs: the 3 × 3 convolution of a bottleneck has the stride, as in
 * today's implementations ("v1.5"); the parameters are the same.
 *
 * <p>A sample is a 224 × 224 image, or one of another size: the beginning is the same. Kept are a
 * convolution's output (the normalisation reads it again) and a ReLU's, which overwrites the
 * normalisation's.
 */
final class ResNet {
  private final Blueprint network;
  private final boolean bottlenecks;
  private final int classes;
  private final int width; // filters of the first convolution: 64 in the paper

  private ResNet(boolean bottlenecks, int size, int classes, int width) {
    this.network = Blueprint.of(FeatureMap.square(3, size));
    this.bottlenecks = bottlenecks;
    this.classes = classes;
    this.width = width;
  }

  /** The network with {@code depth} layers that have weights: 18, 34, 50, 101 or 152. */
  static LayerGraph resnet(int depth, String name, int size, int classes, int width) {
    ResNet net = new ResNet(depth >= 50, size, classes, width);
    return switch (depth) {
      case 18 -> net.graph(name, 2, 2, 2, 2);
      case 34, 50 -> net.graph(name, 3, 4, 6, 3);
      case 101 -> net.graph(name, 3, 4, 23, 3);
      case 152 -> net.graph(name, 3, 8, 36, 3);
      default -> throw new IllegalArgumentException("no such network: depth=" + depth);
    };
  }

  private LayerGraph graph(String name, int... blocks) {
    int last = network.convolution("conv1", 0, width, Window.square(7).every(2).padded());
    last = network.normalization("bn1", last);
    last = network.relu("relu1", last);
    last = network.maxPooling("maxpool", last, Window.square(3).every(2).padded());
    for (int stage = 0; stage < blocks.length; stage++) {
      for (int block = 1; block <= blocks[stage]; block++) {
        int stride = block == 1 && stage > 0 ? 2 : 1;
        String prefix = "layer" + (stage + 1) + "." + block + ".";
        last =
            bottlenecks
                ? bottleneck(prefix, last, width << stage, stride)
                : basic(prefix, last, width << stage, stride);
      }
    }
    last = network.globalPooling("avgpool", last);
    network.fullyConnected("fc", last, classes);
    return network.graph(name);
  }

  /** 3 × 3, 3 × 3; the last layer's number. */
  private int basic(String prefix, int from, int width, int stride) {
    Window three = Window.square(3).padded();
    int last = network.convolution(prefix + "conv1", from, width, three.every(stride));
    last = network.normalization(prefix + "bn1", last);
    last = network.relu(prefix + "relu1", last);
    last = network.convolution(prefix + "conv2", last, width, three);
    last = network.normalization(prefix + "bn2", last);
    last = network.sum(prefix + "add", last, shortcut(prefix, from, width, stride));
    return network.relu(prefix + "relu2", last);
  }

  /** 1 × 1, 3 × 3, 1 × 1 with four times as many filters; the last layer's number. */
  private int bottleneck(String prefix, int from, int width, int stride) {
    Window one = Window.square(1);
    Window three = Window.square(3).padded();
    int last = network.convolution(prefix + "conv1", from, width, one);
    last = network.normalization(prefix + "bn1", last);
    last = network.relu(prefix + "relu1", last);
    last = network.convolution(prefix + "conv2", last, width, three.every(stride));
    last = network.normalization(prefix + "bn2", last);
    last = network.relu(prefix + "relu2", last);
    last = network.convolution(prefix + "conv3", last, 4 * width, one);
    last = network.normalization(prefix + "bn3", last);
    last = network.sum(prefix + "add", last, shortcut(prefix, from, 4 * width, stride));
    return network.relu(prefix + "relu3", last);
  }

  /** The identity; where the block changes the shape, a projection. */
  private int shortcut(String prefix, int from, int channels, int stride) {
    if (stride == 1 && network.map(from).channels() == channels) {
      return from;
    }
    Window one = Window.square(1).every(stride);
    int last = network.convolution(prefix + "projection", from, channels, one);
    return network.normalization(prefix + "projection.bn", last);
  }
}
