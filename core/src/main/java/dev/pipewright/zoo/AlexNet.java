package dev.pipewright.zoo;

import dev.pipewright.model.LayerGraph;

/**
 * AlexNet in one column: five convolutions, three poolings, three fully connected layers.
 *
 * <p>Source: A. Krizhevsky, <i>One weird trick for parallelizing convolutional neural networks</i>,
 * 2014, arXiv:1404.5997, whose filters (64, 192, 384, 256, 256) PyTorch's torchvision has. The
 * network of 2012 has 96, 256, 384, 384 and 256 filters in two columns; ParaDL's file joins those
 * columns (62,367,776 weights against 61,100,840 here).
 *
 * <p>A sample is a 224 × 224 image. Layers include bias and ReLU as in {@link Vgg}.
 */
final class AlexNet {
  private static final int CLASSES = 1000;

  private AlexNet() {}

  static LayerGraph alexNet() {
    Window pool = Window.square(3).every(2);
    Blueprint network = Blueprint.of(FeatureMap.square(3, 224));
    int last = network.convolutionWithRelu("conv1", 0, 64, Window.square(11).every(4).padded(2));
    last = network.maxPooling("pool1", last, pool);
    last = network.convolutionWithRelu("conv2", last, 192, Window.square(5).padded());
    last = network.maxPooling("pool2", last, pool);
    last = network.convolutionWithRelu("conv3", last, 384, Window.square(3).padded());
    last = network.convolutionWithRelu("conv4", last, 256, Window.square(3).padded());
    last = network.convolutionWithRelu("conv5", last, 256, Window.square(3).padded());
    last = network.maxPooling("pool5", last, pool);
    last = network.fullyConnectedWithRelu("fc6", last, 4096);
    last = network.fullyConnectedWithRelu("fc7", last, 4096);
    network.fullyConnected("fc8", last, CLASSES);
    return network.graph("alexnet");
  }
}
