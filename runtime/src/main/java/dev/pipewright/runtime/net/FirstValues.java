package dev.pipewright.runtime.net;

import dev.pipewright.model.Layer;
import dev.pipewright.model.Operator;
import dev.pipewright.runtime.tensor.RandomSource;
import dev.pipewright.runtime.tensor.Tensor;

/**
 * The numbers that a layer starts with, drawn from a source of its own.
 *
 * <ul>
 *   <li>Weights in front of a ReLU or a batch normalisation: uniform with variance 2 / inputs, so
 *       that the sizes of states stay the same from layer to layer (K. He et al., <i>Delving deep
 *       into rectifiers</i>, ICCV 2015, §2.2).
 *   <li>Other weights, and biases of layers without ReLU: uniform up to 1 / √inputs, as PyTorch's
 *       linear layers start. Biases in front of a ReLU: 0.
 *   <li>Tables, positions and all products of transformers: normal with deviation 0.02, biases 0
 *       (GPT-2, BERT).
 *   <li>Recurrent layers: uniform up to 1 / √hidden, as PyTorch's.
 *   <li>Scales 1, shifts 0.
 * </ul>
 */
final class FirstValues {
  private static final double DEVIATION = 0.02;

  private final String layer;
  private final boolean rectified;
  private final RandomSource random;
  private final Share share;

  /**
   * @param share what whole parameters are to the members of a group
   */
  FirstValues(Layer layer, RandomSource random, Share share) {
    this.layer = layer.name();
    this.rectified =
        layer.operator() instanceof Operator.Convolution || layer.steps().contains(RELU);
    this.random = random;
    this.share = share;
  }

  private static final Operator RELU = new Operator.Elementwise("relu");

  private Parameter parameter(String name, Tensor value) {
    return new Parameter(layer + "." + name, value.withGradient(), share);
  }

  /** Weights of a product: the first extent counts outputs, all others inputs. */
  Parameter product(String name, long... shape) {
    double inputs = 1;
    for (int axis = 1; axis < shape.length; axis++) {
      inputs *= shape[axis];
    }
    double bound = Math.sqrt((rectified ? 6 : 1) / inputs);
    return uniform(name, bound, shape);
  }

  Parameter bias(String name, double inputs, long outputs) {
    return rectified ? zeros(name, outputs) : uniform(name, Math.sqrt(1 / inputs), outputs);
  }

  Parameter uniform(String name, double bound, long... shape) {
    return parameter(name, random.uniform(-bound, bound, shape));
  }

  Parameter normal(String name, long... shape) {
    return parameter(name, random.normal(DEVIATION, shape));
  }

  Parameter zeros(String name, long... shape) {
    return parameter(name, Tensor.zeros(shape));
  }

  Parameter ones(String name, long... shape) {
    return parameter(name, Tensor.ones(shape));
  }

  /** Running averages, which no gradient reaches. */
  Parameter average(String name, Tensor value) {
    return new Parameter(layer + "." + name, value);
  }
}
