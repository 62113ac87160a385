package dev.pipewright.zoo;

import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import java.util.ArrayList;
import java.util.List;

/**
 * VGG: five groups of 3 × 3 convolutions, each closed by a pooling that halves the map, and three
 * fully connected layers.
 *
 * <p>Source: K. Simonyan, A. Zisserman, <i>Very deep convolutional networks for large-scale image
 * recognition</i>, ICLR 2015, arXiv:1409.1556, Table 1, configuration E.
 *
 * <p>A sample is a 224 × 224 image. A convolution's layer includes bias and ReLU and keeps one copy
 * of its output: the ReLU's backward pass and the next layer's weight gradient read the same one.
 */
final class Vgg {
  private static final int CLASSES = 1000;

  private Vgg() {}

  static LayerGraph vgg19() {
    return graph("vgg-19", new int[] {2, 2, 4, 4, 4});
  }

  private static LayerGraph graph(String name, int[] convolutions) {
    List<Layer> layers = new ArrayList<>();
    FeatureMap map = new FeatureMap(3, 224);
    layers.add(map.input());
    for (int group = 0; group < convolutions.length; group++) {
      int channels = Math.min(64 << group, 512);
      for (int i = 1; i <= convolutions[group]; i++) {
        String convolution = "conv" + (group + 1) + "_" + i;
        layers.add(map.convolutionWithRelu(convolution, channels, 3, map.channels() == 3));
        map = map.to(channels, 1);
      }
      layers.add(map.maxPooling("pool" + (group + 1), 2, 2, 0));
      map = map.to(channels, 2);
    }
    layers.add(map.fullyConnected("fc6", 4096));
    layers.add(new FeatureMap(4096, 1).fullyConnected("fc7", 4096));
    layers.add(new FeatureMap(4096, 1).fullyConnected("fc8", CLASSES));
    return LayerGraph.chain(name, layers);
  }
}
