package dev.pipewright.zoo;

import dev.pipewright.model.Layer;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Shape;
import dev.pipewright.model.Work;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The feature map that a layer of a convolutional network reads, for one sample: channels × extents
 * (height, width; or depth, height, width; or nothing behind a fully connected layer). Its methods
 * build the layers that read it.
 */
record FeatureMap(int channels, List<Integer> extents) {
  private static final Operator RELU = new Operator.Elementwise("relu");

  FeatureMap {
    extents = List.copyOf(extents);
  }

  static FeatureMap square(int channels, int size) {
    return new FeatureMap(channels, List.of(size, size));
  }

  static FeatureMap cube(int channels, int size) {
    return new FeatureMap(channels, List.of(size, size, size));
  }

  static FeatureMap features(int features) {
    return new FeatureMap(features, List.of());
  }

  /**
   * A map of {@code channels} whose extents are this one's divided by {@code stride}, rounded up.
   */
  FeatureMap to(int channels, int stride) {
    return new FeatureMap(channels, extents.stream().map(x -> (x + stride - 1) / stride).toList());
  }

  /** A map of {@code channels} with one element for each place of the window on this one. */
  FeatureMap through(Window window, int channels) {
    Check.that(
        window.axes() == extents.size(),
        "a window has an axis for each of the map: map=%s, kernel=%s",
        shape(),
        window.kernel());
    List<Integer> places = new ArrayList<>(extents.size());
    for (int axis = 0; axis < extents.size(); axis++) {
      places.add(window.places(axis, extents.get(axis)));
    }
    return new FeatureMap(channels, places);
  }

  long elements() {
    return shape().elements();
  }

  Shape shape() {
    List<Integer> all = new ArrayList<>(extents);
    all.add(0, channels);
    return new Shape(all);
  }

  Layer input() {
    return layer("input", new Operator.Input(), this, 0, elements(), Work.NONE);
  }

  /** A convolution without bias. Normalisation reads its output again in the backward pass. */
  Layer convolution(String name, int channels, Window window, boolean first) {
    return convolution(name, channels, window, first, false, 1);
  }

  /**
   * A convolution with bias and ReLU, each a kernel of its own: four more passes over the output.
   * One copy of it, behind the ReLU, is kept.
   */
  Layer convolutionWithRelu(String name, int channels, Window window, boolean first) {
    return convolution(name, channels, window, first, true, 5).then(RELU);
  }

  /**
   * A convolution without bias, its normalisation and its ReLU; keeps what the three keep. Behind
   * the input only the weights wait for the gradients that pass through.
   */
  Layer normalizedConvolution(String name, int channels, Window window, boolean first) {
    FeatureMap out = through(window, channels);
    Layer convolution = convolution(name, channels, window, first);
    Layer normalization = out.normalization(name);
    Layer relu = out.relu(name);
    Work work = convolution.work().plus(normalization.work()).plus(relu.work());
    return layer(
            name,
            convolution.operator(),
            out,
            convolution.parameters() + normalization.parameters(),
            convolution.keptElements() + normalization.keptElements() + relu.keptElements(),
            first ? withoutInputGradient(work) : work)
        .computing(List.of(convolution.operator(), normalization.operator(), RELU));
  }

  private static Work withoutInputGradient(Work work) {
    double weightGradient = work.weightGradient() + work.inputGradient();
    return new Work(work.forward(), 0, weightGradient, work.forwardElements());
  }

  /** A convolution with bias: two more passes over the output. */
  Layer convolutionWithBias(String name, int channels, Window window, boolean first) {
    return convolution(name, channels, window, first, true, 3);
  }

  private Layer convolution(
      String name, int channels, Window window, boolean first, boolean bias, int passes) {
    FeatureMap out = through(window, channels);
    long weights = window.volume() * this.channels * channels;
    double flop = 2.0 * window.volume() * this.channels * out.elements();
    double moved = elements() + (double) passes * out.elements();
    Operator operator =
        new Operator.Convolution(
            this.channels,
            channels,
            window.kernel(),
            window.stride(),
            window.padding(),
            window.dilation(),
            1,
            bias);
    Work work = new Work(flop, first ? 0 : flop, flop, moved);
    return layer(name, operator, out, weights + (bias ? channels : 0), out.elements(), work);
  }

  /** Batch normalisation: reads its input twice; keeps a mean and a deviation of each channel. */
  Layer normalization(String name) {
    Operator operator = new Operator.Normalization(Operator.Normalization.Kind.BATCH, channels);
    Work work = new Work(5.0 * elements(), 8.0 * elements(), 2.0 * elements(), 3.0 * elements());
    return layer(name, operator, this, 2L * channels, 2L * channels, work);
  }

  Layer relu(String name) {
    Work work = new Work(elements(), elements(), 0, 2.0 * elements());
    return layer(name, RELU, this, 0, elements(), work);
  }

  /** The sum of two such maps; its backward pass needs neither. */
  Layer sum(String name) {
    Work work = new Work(elements(), 0, 0, 3.0 * elements());
    return layer(name, new Operator.Elementwise("add"), this, 0, 0, work);
  }

  /** Maps joined to this one, channel behind channel; the copy is what the next layers keep. */
  Layer concatenation(String name) {
    Work work = new Work(0, 0, 0, 2.0 * elements());
    return layer(name, new Operator.Concatenation(), this, 0, elements(), work);
  }

  Layer maxPooling(String name, Window window) {
    return pooling(name, Operator.Pooling.Kind.MAX, window);
  }

  Layer averagePooling(String name, Window window) {
    return pooling(name, Operator.Pooling.Kind.AVERAGE, window);
  }

  /** The average over the whole map. */
  Layer globalPooling(String name) {
    return averagePooling(name, Window.whole(extents));
  }

  private Layer pooling(String name, Operator.Pooling.Kind kind, Window window) {
    FeatureMap out = through(window, channels);
    Operator operator =
        new Operator.Pooling(kind, window.kernel(), window.stride(), window.padding());
    double flop = (double) window.volume() * out.elements();
    Work work = new Work(flop, elements(), 0, (double) elements() + out.elements());
    return layer(name, operator, out, 0, out.elements(), work);
  }

  /** A fully connected layer over the flattened map, with bias; its output is kept. */
  Layer fullyConnected(String name, int features) {
    return fullyConnected(name, features, false);
  }

  /** Likewise; behind the input the gradient that passes through is not needed. */
  Layer fullyConnected(String name, int features, boolean first) {
    double flop = 2.0 * elements() * features;
    Work work = new Work(flop, first ? 0 : flop, flop, elements() + 5.0 * features);
    long parameters = (elements() + 1) * features;
    Operator operator = new Operator.Linear(Math.toIntExact(elements()), features, true);
    return layer(name, operator, features(features), parameters, features, work);
  }

  /** The same with a ReLU: its passes are counted in either case. */
  Layer fullyConnectedWithRelu(String name, int features, boolean first) {
    return fullyConnected(name, features, first).then(RELU);
  }

  private static Layer layer(
      String name, Operator operator, FeatureMap out, long parameters, long kept, Work work) {
    return new Layer(
        name, operator, Optional.of(out.shape()), parameters, out.elements(), kept, work);
  }
}
