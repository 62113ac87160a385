package dev.pipewright.zoo;

import dev.pipewright.model.LayerGraph;

/**
 * Networks that a laptop trains in seconds: of no paper, but of the plainest shapes that people
 * measure training with. Layers include bias and ReLU as in {@link Vgg}.
 */
final class SmallNetworks {
  private static final int[] CHANNELS = {64, 128, 256};

  private SmallNetworks() {}

  /** As many equal layers with ReLU, and a classifier. A sample is a row of {@code in} numbers. */
  static LayerGraph perceptron(String name, int layers, int hidden, int in, int classes) {
    Blueprint network = Blueprint.of(FeatureMap.features(in));
    int last = 0;
    for (int i = 1; i <= layers; i++) {
      last = network.fullyConnectedWithRelu("fc" + i, last, hidden);
    }
    network.fullyConnected("classifier", last, classes);
    return network.graph(name);
  }

  /** GPT's blocks, eight of them, over 128 tokens; the head has a product of its own. */
  static LayerGraph languageModel(String name) {
    return Transformer.gpt(8, 256, 8, 128, 1024).gptWithOwnHead(name);
  }

  /**
   * Three pairs of 3 × 3 convolutions with 64, 128 and 256 filters, each closed by a pooling that
   * halves the map, and a classifier: the beginning of VGG's configuration B (Simonyan and
   * Zisserman 2015, Table 1).
   */
  static LayerGraph convolutions(String name, int size, int classes) {
    Blueprint network = Blueprint.of(FeatureMap.square(3, size));
    int last = 0;
    for (int group = 1; group <= CHANNELS.length; group++) {
      for (int i = 1; i <= 2; i++) {
        Window window = Window.square(3).padded();
        String convolution = "conv" + group + "_" + i;
        last = network.convolutionWithRelu(convolution, last, CHANNELS[group - 1], window);
      }
      last = network.maxPooling("pool" + group, last, Window.square(2).every(2));
    }
    network.fullyConnected("classifier", last, classes);
    return network.graph(name);
  }
}
