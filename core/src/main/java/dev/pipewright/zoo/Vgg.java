package dev.pipewright.zoo;

import dev.pipewright.model.LayerGraph;

/**
 * VGG: five groups of 3 × 3 convolutions, each closed by a pooling that halves the map, and three
 * fully connected layers.
 *
 * <p>Source: K. Simonyan, A. Zisserman, <i>Very deep convolutional networks for large-scale image
 * recognition</i>, ICLR 2015, arXiv:1409.1556, Table 1, configurations D and E.
 *
 * <p>A sample is a 224 × 224 image. A convolution's layer includes bias and ReLU and keeps one copy
 * of its output: the ReLU's backward pass and the next layer's weight gradient read the same one.
 */
final class Vgg {
  private static final int CLASSES = 1000;

  private Vgg() {}

  static LayerGraph vgg16() {
    return graph("vgg-16", 2, 2, 3, 3, 3);
  }

  static LayerGraph vgg19() {
    return graph("vgg-19", 2, 2, 4, 4, 4);
  }

  private static LayerGraph graph(String name, int... convolutions) {
    Blueprint network = Blueprint.of(FeatureMap.square(3, 224));
    int last = 0;
    for (int group = 1; group <= convolutions.length; group++) {
      int channels = Math.min(32 << group, 512);
      for (int i = 1; i <= convolutions[group - 1]; i++) {
        String convolution = "conv" + group + "_" + i;
        last = network.convolutionWithRelu(convolution, last, channels, Window.square(3).padded());
      }
      last = network.maxPooling("pool" + group, last, Window.square(2).every(2));
    }
    last = network.fullyConnected("fc6", last, 4096);
    last = network.fullyConnected("fc7", last, 4096);
    network.fullyConnected("fc8", last, CLASSES);
    return network.graph(name);
  }
}
