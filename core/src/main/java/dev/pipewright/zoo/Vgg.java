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
  private final int size;
  private final int classes;
  private final int width; // filters of the first convolutions: 64 in the paper

  private Vgg(int size, int classes, int width) {
    this.size = size;
    this.classes = classes;
    this.width = width;
  }

  /**
   * @param depth 16 or 19: layers with parameters
   */
  static LayerGraph vgg(int depth, String name, int size, int classes, int width) {
    Vgg net = new Vgg(size, classes, width);
    return depth == 16 ? net.graph(name, 2, 2, 3, 3, 3) : net.graph(name, 2, 2, 4, 4, 4);
  }

  private LayerGraph graph(String name, int... convolutions) {
    Blueprint network = Blueprint.of(FeatureMap.square(3, size));
    int last = 0;
    for (int group = 1; group <= convolutions.length; group++) {
      int channels = Math.min(width << (group - 1), 8 * width);
      for (int i = 1; i <= convolutions[group - 1]; i++) {
        String convolution = "conv" + group + "_" + i;
        last = network.convolutionWithRelu(convolution, last, channels, Window.square(3).padded());
      }
      last = network.maxPooling("pool" + group, last, Window.square(2).every(2));
    }
    last = network.fullyConnectedWithRelu("fc6", last, 64 * width);
    last = network.fullyConnectedWithRelu("fc7", last, 64 * width);
    network.fullyConnected("fc8", last, classes);
    return network.graph(name);
  }
}
