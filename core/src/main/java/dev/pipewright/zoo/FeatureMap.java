package dev.pipewright.zoo;

import dev.pipewright.model.Layer;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Shape;
import dev.pipewright.model.Work;
import java.util.List;
import java.util.Optional;

/**
 * The square feature map that a layer of a convolutional network reads: channels × size × size for
 * one sample. Its methods build the layers that read it.
 */
record FeatureMap(int channels, int size) {
  /** A map of {@code channels} whose size is this one's divided by {@code stride}, rounded up. */
  FeatureMap to(int channels, int stride) {
    return new FeatureMap(channels, (size + stride - 1) / stride);
  }

  long elements() {
    return (long) channels * size * size;
  }

  Shape shape() {
    return Shape.of(channels, size, size);
  }

  Layer input() {
    return layer("input", new Operator.Input(), this, 0, elements(), Work.NONE);
  }

  /**
   * FLOP of one pass of a {@code kernel} × {@code kernel} convolution of this map into {@code out}.
   */
  double convolutionFlop(FeatureMap out, int kernel) {
    return 2.0 * kernel * kernel * channels * out.elements();
  }

  /** A convolution without bias. Normalisation reads its output again in the backward pass. */
  Layer convolution(String name, int channels, int kernel, int stride, boolean first) {
    FeatureMap out = to(channels, stride);
    long weights = (long) kernel * kernel * this.channels * channels;
    double flop = convolutionFlop(out, kernel);
    Work work = new Work(flop, first ? 0 : flop, flop, elements() + out.elements());
    Operator operator = operator(channels, kernel, stride, false);
    return layer(name, operator, out, weights, out.elements(), work);
  }

  /**
   * A convolution of stride 1 with bias and ReLU, each a kernel of its own: four more passes over
   * the output. One copy of it, behind the ReLU, is kept.
   */
  Layer convolutionWithRelu(String name, int channels, int kernel, boolean first) {
    FeatureMap out = to(channels, 1);
    long weights = (long) kernel * kernel * this.channels * channels + channels;
    double flop = convolutionFlop(out, kernel);
    Work work = new Work(flop, first ? 0 : flop, flop, elements() + 5.0 * out.elements());
    Operator operator = operator(channels, kernel, 1, true);
    return layer(name, operator, out, weights, out.elements(), work);
  }

  private Operator operator(int outChannels, int kernel, int stride, boolean bias) {
    List<Integer> padding = square(kernel / 2);
    return new Operator.Convolution(
        channels, outChannels, square(kernel), square(stride), padding, square(1), 1, bias);
  }

  /** Batch normalisation: reads its input twice; keeps a mean and a deviation of each channel. */
  Layer normalization(String name) {
    Operator operator = new Operator.Normalization(Operator.Normalization.Kind.BATCH, channels);
    Work work = new Work(5.0 * elements(), 8.0 * elements(), 2.0 * elements(), 3.0 * elements());
    return layer(name, operator, this, 2L * channels, 2L * channels, work);
  }

  Layer relu(String name) {
    Work work = new Work(elements(), elements(), 0, 2.0 * elements());
    return layer(name, new Operator.Elementwise("relu"), this, 0, elements(), work);
  }

  /** The sum of two such maps; its backward pass needs neither. */
  Layer sum(String name) {
    Work work = new Work(elements(), 0, 0, 3.0 * elements());
    return layer(name, new Operator.Elementwise("add"), this, 0, 0, work);
  }

  Layer maxPooling(String name, int kernel, int stride, int padding) {
    return pooling(name, Operator.Pooling.Kind.MAX, to(channels, stride), kernel, stride, padding);
  }

  /** The average over the whole map. */
  Layer globalPooling(String name) {
    FeatureMap out = new FeatureMap(channels, 1);
    return pooling(name, Operator.Pooling.Kind.AVERAGE, out, size, size, 0);
  }

  private Layer pooling(
      String name,
      Operator.Pooling.Kind kind,
      FeatureMap out,
      int kernel,
      int stride,
      int padding) {
    Operator operator = new Operator.Pooling(kind, square(kernel), square(stride), square(padding));
    double flop = (double) kernel * kernel * out.elements();
    Work work = new Work(flop, elements(), 0, (double) elements() + out.elements());
    return layer(name, operator, out, 0, out.elements(), work);
  }

  /** A fully connected layer over the flattened map, with bias; its output is kept. */
  Layer fullyConnected(String name, int features) {
    double flop = 2.0 * elements() * features;
    Work work = new Work(flop, flop, flop, elements() + 5.0 * features);
    long parameters = (elements() + 1) * features;
    Operator operator = new Operator.Linear(Math.toIntExact(elements()), features, true);
    Optional<Shape> shape = Optional.of(Shape.of(features));
    return new Layer(name, operator, shape, parameters, features, features, work);
  }

  private static Layer layer(
      String name, Operator operator, FeatureMap out, long parameters, long kept, Work work) {
    return new Layer(
        name, operator, Optional.of(out.shape()), parameters, out.elements(), kept, work);
  }

  private static List<Integer> square(int extent) {
    return List.of(extent, extent);
  }
}
