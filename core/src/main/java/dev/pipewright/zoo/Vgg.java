package dev.pipewright.zoo;

import dev.pipewright.model.LayerGraph;

/**
 * VGG: five groups of 3 × 3 convolutions, each closed by a pooling that halves the map, and three
 * fully connected layers.
 *
 * <p>Source: K. Simonyan, A. Zisserman, <i>Very deep convolutional networks for large-scale image
 * recognition</i>, ICLR 2015, arXiv:1409.1556, Table 1, configurations D and E.
 *
 * <p>A sample is a 224 × 224 image, or one of another size: the first fully connected layer reads
 * what the last pooling leaves. A convolution's layer includes bias and ReLU and keeps one copy of
 * its output: the ReLU's backward pass and the next layer's weight gradient read the same one.
 */
final class Vgg {
  private Vgg() {}

  /** With 13 convolutions. */
  static LayerGraph vgg16(String name, int size, int classes) {
    return graph(name, size, classes, 2, 2, 3, 3, 3);
  }

  /** With 16. */
  static LayerGraph vgg19(String name, int size, int classes) {
    return graph(name, size, classes, 2, 2, 4, 4, 4);
  }

  private static LayerGraph graph(String name, int size, int classes, int... convolutions) {
    Blueprint network = Blueprint.of(FeatureMap.square(3, size));
    int last = 0;
    for (int group = 1; group <= convolutions.length; group++) {
      int channels = Math.min(32 << group, 512);
      for (int i = 1; i <= convolutions[group - 1]; i++) {
        String convolution = "conv" + group + "_" + i;
        last = network.convolutionWithRelu(convolution, last, channels, Window.square(3).padded());
      }
      last = network.maxPooling("pool" + group, last, Window.square(2).every(2));
    }
    last = network.fullyConnectedWithRelu("fc6", last, 4096);
    last = network.fullyConnectedWithRelu("fc7", last, 4096);
    network.fullyConnected("fc8", last, classes);
    return network.graph(name);
  }
}
