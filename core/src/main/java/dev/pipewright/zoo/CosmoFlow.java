package dev.pipewright.zoo;

import dev.pipewright.model.LayerGraph;
import dev.pipewright.units.Check;

/**
 * CosmoFlow: seven convolutions and six average poolings over a cube of the universe's matter, and
 * three fully connected layers that end in four cosmological parameters.
 *
 * <p>Sources: A. Mathuriya et al., <i>CosmoFlow: using deep learning to learn the universe at
 * scale</i>, SC 2018, arXiv:1808.04728; the shapes are those that A. N. Kahira et al. measured
 * (<i>ParaDL</i>, HPDC 2021, §5.1: 4 × 256³, about two million parameters) and published with their
 * program.
 *
 * <p>Their files for 256³ and 512³ agree in every filter, so all sizes have the same 2,131,252
 * parameters (2,128,064 without biases, which the files do not count), but not in the rest:
 *
 * <ul>
 *   <li>256³: convolutions are padded, the fourth one halves the map; the last one is not padded
 *       and ends at 1³. Even kernels cannot be padded evenly: the fifth and sixth convolution have
 *       one plane on both sides and hand on 9³ and 5³ where the file has 8³ and 4³; the pooling
 *       behind them cuts the difference off.
 *   <li>512³: nothing is padded, the third convolution halves the map. This is taken as published,
 *       because in the padded form 4³ would reach the last convolution, and the first fully
 *       connected layer would have 27 times its weights.
 *   <li>128³ has no file: it is the network for 256³ without the fourth pooling, so that the later
 *       layers are the same. Likewise 64³, 32³ and 16³ have neither the third, nor the second, nor
 *       the first. Between these sizes the first fully connected layer reads more.
 * </ul>
 *
 * <p>Departs: the function behind a convolution is a ReLU, as in the files. Layers include bias and
 * ReLU as in {@link Vgg}.
 */
final class CosmoFlow {
  private static final Window POOL = Window.cube(2).every(2);

  private static final int OUTPUTS = 4;
  private static final int SMALLEST = 16;

  private final Blueprint network;
  private final int outputs;
  private int last = 0;

  private CosmoFlow(int size, int outputs) {
    this.outputs = outputs;
    this.network = Blueprint.of(FeatureMap.cube(4, size));
  }

  static LayerGraph cosmoFlow128() {
    return small("cosmoflow-128", 128, OUTPUTS);
  }

  static LayerGraph cosmoFlow256() {
    return small("cosmoflow-256", 256, OUTPUTS);
  }

  static LayerGraph cosmoFlow512() {
    return new CosmoFlow(512, OUTPUTS).unpadded("cosmoflow-512");
  }

  /** The padded network for a cube with edges of {@code size}. */
  static LayerGraph small(String name, int size, int outputs) {
    Check.that(
        size >= SMALLEST, "%s: size=%d makes no sense; write %d or more", name, size, SMALLEST);
    int poolings = 0;
    while (poolings < 4 && SMALLEST << (poolings + 1) <= size) {
      poolings++;
    }
    return new CosmoFlow(size, outputs).padded(name, poolings);
  }

  /** With so many of the first four poolings. */
  private LayerGraph padded(String name, int poolings) {
    Window three = Window.cube(3).padded();
    Window two = Window.cube(2).padded();
    for (int i = 1; i <= 4; i++) {
      convolution(i, 8 << i, i == 4 ? three.every(2) : three);
      if (i <= poolings) {
        pooling(i);
      }
    }
    convolution(5, 256, two);
    pooling(5);
    convolution(6, 256, two);
    pooling(6);
    return closed(name);
  }

  private LayerGraph unpadded(String name) {
    Window three = Window.cube(3);
    Window two = Window.cube(2);
    convolution(1, 16, three);
    pooling(1);
    convolution(2, 32, three);
    pooling(2);
    convolution(3, 64, three.every(2));
    pooling(3);
    convolution(4, 128, three);
    pooling(4);
    convolution(5, 256, two);
    pooling(5);
    convolution(6, 256, two);
    pooling(6);
    return closed(name);
  }

  private LayerGraph closed(String name) {
    convolution(7, 128, Window.cube(2));
    last = network.fullyConnectedWithRelu("fc1", last, 2048);
    last = network.fullyConnectedWithRelu("fc2", last, 256);
    network.fullyConnected("fc3", last, outputs);
    return network.graph(name);
  }

  private void convolution(int number, int channels, Window window) {
    last = network.convolutionWithRelu("conv" + number, last, channels, window);
  }

  private void pooling(int number) {
    last = network.averagePooling("pool" + number, last, POOL);
  }
}
