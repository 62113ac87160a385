package dev.pipewright.runtime.net;

import dev.pipewright.runtime.tensor.Tensor;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * How the members of a group divide a convolution or a product with a matrix (ParaDL §3.3, §3.4).
 * The first two begin and end with whole tensors.
 *
 * <ul>
 *   <li>By filters: each makes some of the output from the whole input. The output is gathered; the
 *       gradient of the input is the sum of all members'.
 *   <li>By channels: each reads some of the input. The output is the sum of what they make, and the
 *       bias is added to that sum, once; the gradient of the input is gathered.
 *   <li>By words: as by filters, but the output stays divided ({@link VocabularyPart}).
 * </ul>
 */
record ParallelProduct(ParallelProduct.By by, TensorParallelGroup tensorGroup) {
  enum By {
    NOTHING,
    FILTERS,
    CHANNELS,
    WORDS
  }

  static final ParallelProduct WHOLE = new ParallelProduct(By.NOTHING, TensorParallelGroup.ALONE);

  /** One's own of a weight, whose first axis counts outputs, the second inputs. */
  Parameter weight(Parameter whole) {
    return switch (by) {
      case NOTHING -> whole;
      case FILTERS, WORDS -> whole.piece(tensorGroup, 0);
      case CHANNELS -> whole.piece(tensorGroup, 1);
    };
  }

  Parameter bias(Parameter whole) {
    return by == By.FILTERS || by == By.WORDS ? whole.piece(tensorGroup, 0) : whole;
  }

  /**
   * What the product reads.
   *
   * @param axis of the channels or features
   */
  Tensor read(Tensor input, int axis) {
    return switch (by) {
      case NOTHING -> input;
      case FILTERS, WORDS -> new GroupCommunication(tensorGroup).shared(input);
      case CHANNELS ->
          new GroupCommunication(tensorGroup)
              .own(input, TensorCut.of(tensorGroup, axis, input.extent(axis)));
    };
  }

  /** The bias that belongs into the product itself. */
  Optional<Tensor> within(Optional<Parameter> bias) {
    return by == By.CHANNELS ? Optional.empty() : bias.map(Parameter::value);
  }

  /**
   * The layer's output.
   *
   * @param product as {@link #within} says, with its bias
   * @param axis of the channels or features
   * @param outputs of all members along it
   */
  Tensor made(
      Tensor product,
      int axis,
      long outputs,
      Parameter weight,
      Optional<Parameter> bias,
      ForwardPass pass) {
    return switch (by) {
      case NOTHING, WORDS -> pass.used(product, all(weight, bias));
      case FILTERS ->
          new GroupCommunication(tensorGroup)
              .gathered(
                  pass.used(product, all(weight, bias)), TensorCut.of(tensorGroup, axis, outputs));
      case CHANNELS -> {
        Tensor sum = new GroupCommunication(tensorGroup).sum(pass.used(product, List.of(weight)));
        yield bias.map(added -> pass.used(sum.plus(along(added, axis, sum)), List.of(added)))
            .orElse(sum);
      }
    };
  }

  /** One number for each position of an axis. */
  private static Tensor along(Parameter bias, int axis, Tensor sum) {
    int behind = sum.shape().length - 1 - axis;
    long[] shape = new long[behind + 1];
    Arrays.fill(shape, 1);
    shape[0] = bias.value().elements();
    return bias.value().reshaped(shape);
  }

  static List<Parameter> all(Parameter weight, Optional<Parameter> bias) {
    return bias.map(present -> List.of(weight, present)).orElse(List.of(weight));
  }
}
