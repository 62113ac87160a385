package dev.pipewright.runtime.tensor;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.bytedeco.pytorch.DoubleOptional;
import org.bytedeco.pytorch.LongOptional;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.TensorOptional;
import org.bytedeco.pytorch.global.torch;

/**
 * The functions that layers are made of. The first axis of a tensor counts samples; images have
 * channels, then their spatial axes; sequences have steps, then features.
 */
public final class Functions {
  /** Added to variances before a root is taken. */
  public static final double EPSILON = 1e-5;

  private static final double HIDDEN = Double.NEGATIVE_INFINITY; // added to a score
  private static final int SUM = 2; // how libtorch calls a loss that is not averaged
  private static final int CHANNELS_OF_A_VECTOR = 16; // of AVX-512; AVX2 has half as many

  private Functions() {}

  /** {@code input · weightᵀ + bias} over the last axis. */
  public static Tensor linear(Tensor input, Tensor weight, Optional<Tensor> bias) {
    return new Tensor(torch.linear(input.handle(), weight.handle(), optional(bias)));
  }

  /**
   * A convolution over as many spatial axes as {@code stride} has, two or three.
   *
   * @param input in any order; it is computed {@linkplain Tensor#packed packed} where that is safe
   */
  public static Tensor convolution(
      Tensor input,
      Tensor weight,
      Optional<Tensor> bias,
      long[] stride,
      long[] padding,
      long[] dilation,
      long groups) {
    var ordered =
        overrunsPacked(weight, stride) ? input.handle().contiguous() : input.packed().handle();
    TensorOptional added = optional(bias);
    return new Tensor(
        stride.length == 3
            ? torch.conv3d(ordered, weight.handle(), added, stride, padding, dilation, groups)
            : torch.conv2d(ordered, weight.handle(), added, stride, padding, dilation, groups));
  }

  /**
   * Whether oneDNN, as of 3.7, would write beyond its memory: it does so for the gradient of a
   * weight that skips places without looking at their neighbours and has fewer channels than a
   * vector (its issue 6035).
   */
  private static boolean overrunsPacked(Tensor weight, long[] stride) {
    long channels = weight.extent(1);
    long taps = weight.elements() / (weight.extent(0) * channels);
    return taps == 1
        && channels < CHANNELS_OF_A_VECTOR
        && Arrays.stream(stride).anyMatch(step -> step > 1);
  }

  /** The maximum over a window. */
  public static Tensor maximum(Tensor input, long[] kernel, long[] stride, long[] padding) {
    long[] dense = kernel.length == 3 ? new long[] {1, 1, 1} : new long[] {1, 1};
    return new Tensor(
        kernel.length == 3
            ? torch.max_pool3d(input.handle(), kernel, stride, padding, dense, false)
            : torch.max_pool2d(input.handle(), kernel, stride, padding, dense, false));
  }

  /** The average over a window; padding counts as zeros. */
  public static Tensor average(Tensor input, long[] kernel, long[] stride, long[] padding) {
    LongOptional whole = new LongOptional();
    return new Tensor(
        kernel.length == 3
            ? torch.avg_pool3d(input.handle(), kernel, stride, padding, false, true, whole)
            : torch.avg_pool2d(input.handle(), kernel, stride, padding, false, true, whole));
  }

  /** Normalisation over the last axis. */
  public static Tensor layerNormalization(Tensor input, Tensor scale, Tensor shift) {
    return new Tensor(
        torch.layer_norm(
            input.handle(),
            new long[] {scale.elements()},
            new TensorOptional(scale.handle()),
            new TensorOptional(shift.handle()),
            EPSILON,
            false));
  }

  /** Normalisation over the last axis without scale and shift. */
  public static Tensor layerNormalization(Tensor input) {
    long features = input.extent(input.shape().length - 1);
    return new Tensor(
        torch.layer_norm(
            input.handle(),
            new long[] {features},
            new TensorOptional(),
            new TensorOptional(),
            EPSILON,
            false));
  }

  /**
   * Division by the root mean square over the last axis.
   *
   * @param scale of each feature; none where nothing is learned
   */
  public static Tensor rootMeanSquare(Tensor input, Optional<Tensor> scale) {
    long features = input.extent(input.shape().length - 1);
    return new Tensor(
        torch.rms_norm(
            input.handle(), new long[] {features}, optional(scale), new DoubleOptional(EPSILON)));
  }

  /**
   * Normalisation of each channel over samples and places.
   *
   * @param mean and {@code variance}: running averages, which it brings up to date where it trains
   *     and reads where not
   */
  public static Tensor batchNormalization(
      Tensor input,
      Tensor scale,
      Tensor shift,
      Tensor mean,
      Tensor variance,
      boolean training,
      double momentum) {
    return new Tensor(
        torch.batch_norm(
            input.handle(),
            new TensorOptional(scale.handle()),
            new TensorOptional(shift.handle()),
            new TensorOptional(mean.handle()),
            new TensorOptional(variance.handle()),
            training,
            momentum,
            EPSILON,
            false));
  }

  /** Normalisation of each channel over samples and positions, which keeps no averages. */
  public static Tensor batchNormalization(Tensor input, Tensor scale, Tensor shift) {
    return new Tensor(
        torch.batch_norm(
            input.handle(),
            new TensorOptional(scale.handle()),
            new TensorOptional(shift.handle()),
            new TensorOptional(),
            new TensorOptional(),
            true,
            0,
            EPSILON,
            false));
  }

  public static Tensor relu(Tensor input) {
    return new Tensor(torch.relu(input.handle()));
  }

  public static Tensor tanh(Tensor input) {
    return new Tensor(torch.tanh(input.handle()));
  }

  /** The exact form, without tanh. */
  public static Tensor gelu(Tensor input) {
    return new Tensor(torch.gelu(input.handle()));
  }

  /** {@code x} times its sigmoid. */
  public static Tensor silu(Tensor input) {
    return new Tensor(torch.silu(input.handle()));
  }

  public static Tensor sigmoid(Tensor input) {
    return new Tensor(torch.sigmoid(input.handle()));
  }

  /** The rows of {@code table} that whole numbers name. */
  public static Tensor embedding(Tensor table, Tensor indices) {
    return new Tensor(torch.embedding(table.handle(), indices.handle()));
  }

  /**
   * Looks up rows of a table whose first row is that of the number {@code first}: zeros for numbers
   * that it has no row of.
   */
  public static Tensor embedding(Tensor table, Tensor indices, long first) {
    var rows = indices.handle().sub(new Scalar(first));
    var none = rows.lt(new Scalar(0)).logical_or(rows.ge(new Scalar(table.extent(0))));
    var found = torch.embedding(table.handle(), rows.masked_fill(none, new Scalar(0)));
    return new Tensor(found.masked_fill_(none.unsqueeze(-1), new Scalar(0)));
  }

  /**
   * Attention of queries to keys and values, each samples × heads × steps × features of a head.
   *
   * @param causal whether a step attends to no later one
   */
  public static Tensor attention(Tensor queries, Tensor keys, Tensor values, boolean causal) {
    return new Tensor(
        torch.scaled_dot_product_attention(
            queries.handle(),
            keys.handle(),
            values.handle(),
            new TensorOptional(),
            0.0,
            causal,
            new DoubleOptional(),
            false));
  }

  /**
   * A mask that hides later steps from queries, for all samples: 1 × 1 × queries × steps.
   *
   * @param first step of the queries
   * @param steps up to the last query's
   */
  public static Tensor hidingLater(long first, long steps) {
    var hidden = NewTensors.empty(steps - first, steps).fill_(new Scalar(HIDDEN));
    return new Tensor(hidden.triu(first + 1)).reshaped(1, 1, steps - first, steps);
  }

  /**
   * Each entry along an axis so many times, one after the other: keys and values for each of the
   * heads that they serve.
   */
  public static Tensor repeated(Tensor input, int axis, int times) {
    if (times == 1) {
      return input;
    }
    long[] shape = new long[input.shape().length + 1];
    Arrays.fill(shape, -1);
    shape[axis + 1] = times;
    var copies = input.handle().unsqueeze(axis + 1).expand(shape);
    return new Tensor(copies.flatten(axis, axis + 1));
  }

  /**
   * Attention with a mask: its value for a pair of steps is added to the pair's score.
   *
   * @param mask samples × 1 × queries × keys, or one for all samples
   */
  public static Tensor attention(Tensor queries, Tensor keys, Tensor values, Tensor mask) {
    return new Tensor(
        torch.scaled_dot_product_attention(
            queries.handle(),
            keys.handle(),
            values.handle(),
            new TensorOptional(mask.handle()),
            0.0,
            false,
            new DoubleOptional(),
            false));
  }

  /**
   * The states of a recurrent layer that begins with zeros, step by step; where it runs in both
   * directions, those of the second after those of the first.
   *
   * @param weights for each direction: of the inputs and of the states, {@code 4 · features} rows
   *     each, and two biases of as many; the gates in the order input, forget, cell, output
   */
  public static Tensor lstm(Tensor input, List<Tensor> weights, int features) {
    int directions = weights.size() / 4;
    Tensor zeros = Tensor.zeros(directions, input.extent(0), features);
    return Tensor.shared( // a part of the triple, which ends with the scope
        torch
            .lstm(
                input.handle(),
                Tensor.vector(List.of(zeros, zeros)),
                Tensor.vector(weights),
                true,
                1,
                0.0,
                true,
                directions == 2,
                true)
            .get0());
  }

  public static Tensor softmax(Tensor input, int axis) {
    return new Tensor(torch.softmax(input.handle(), axis));
  }

  /** Concatenates tensors along an axis. */
  public static Tensor concatenation(List<Tensor> parts, int axis) {
    return Tensor.joined(parts, axis);
  }

  /**
   * The cross entropy of scores against classes, summed over all rows.
   *
   * @param scores rows × classes
   */
  public static Tensor crossEntropy(Tensor scores, Tensor classes) {
    return new Tensor(
        torch.cross_entropy_loss(
            scores.handle(), classes.handle(), new TensorOptional(), SUM, -100, 0));
  }

  /** Half the square of the difference, summed over everything. */
  public static Tensor squaredError(Tensor values, Tensor wanted) {
    return new Tensor(torch.mse_loss(values.handle(), wanted.handle(), SUM)).times(0.5);
  }

  /** How many rows of scores have the highest at their class. */
  public static long correct(Tensor scores, Tensor classes) {
    try (Scope scope = new Scope()) {
      return scores
          .handle()
          .argmax(new LongOptional(-1), false)
          .eq(classes.handle())
          .sum()
          .item_long();
    }
  }

  private static TensorOptional optional(Optional<Tensor> tensor) {
    return tensor
        .map(present -> new TensorOptional(present.handle()))
        .orElseGet(TensorOptional::new);
  }
}
