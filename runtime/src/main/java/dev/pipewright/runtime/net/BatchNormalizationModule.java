package dev.pipewright.runtime.net;

import dev.pipewright.runtime.tensor.Functions;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.Arrays;
import java.util.List;

/**
 * Normalisation of each channel over the samples of a micro-batch and their places; over those of
 * all workers where they {@linkplain SharedStatistics share} their sums.
 */
final class BatchNormalizationModule implements Module {
  private static final double MOMENTUM = 0.1; // the newest batch's weight in running averages

  private final Parameter scale;
  private final Parameter shift;
  private final Parameter mean;
  private final Parameter variance;
  private final TensorParallelGroup places;
  private final SharedSums sums = new SharedSums();

  /**
   * @param places who has the other places of a sample
   */
  BatchNormalizationModule(int features, FirstValues values, TensorParallelGroup places) {
    this.places = places;
    scale = values.ones("scale", features);
    shift = values.zeros("shift", features);
    mean = values.average("mean", Tensor.zeros(features));
    variance = values.average("variance", Tensor.ones(features));
  }

  @Override
  public List<Parameter> parameters() {
    return List.of(scale, shift);
  }

  @Override
  public List<Parameter> averages() {
    return List.of(mean, variance);
  }

  @Override
  public Tensor forward(List<Tensor> inputs, ForwardPass pass) {
    Tensor input = inputs.get(0);
    SharedStatistics with = places.statistics(pass.statistics());
    boolean together = pass.training() && with.shared();
    return pass.used(together ? shared(input, with, pass) : own(input, pass), parameters());
  }

  private Tensor own(Tensor input, ForwardPass pass) {
    if (pass.training() && !pass.updatesAverages()) {
      return Functions.batchNormalization(input, scale.value(), shift.value());
    }
    return Functions.batchNormalization(
        input,
        scale.value(),
        shift.value(),
        mean.value(),
        variance.value(),
        pass.training(),
        MOMENTUM);
  }

  /** Means first, then the squares around them: as exact as the fused form on one worker. */
  private Tensor shared(Tensor input, SharedStatistics with, ForwardPass pass) {
    long channels = input.extent(1);
    long[] broadcast = new long[input.shape().length];
    Arrays.fill(broadcast, 1);
    broadcast[1] = channels;
    long[] others = others(broadcast.length);
    Tensor ownCount = Tensor.ones(1).times((double) input.elements() / channels);
    Tensor both = Tensor.joined(List.of(input.sums(others), ownCount), 0);
    Tensor total = sums.of(both, with);
    Tensor count = total.part(0, channels, 1).detached();
    Tensor average = total.part(0, 0, channels).over(count);
    Tensor centred = input.minus(average.reshaped(broadcast));
    Tensor squares = sums.of(centred.times(centred).sums(others), with);
    Tensor spread = squares.over(count);
    if (pass.updatesAverages()) {
      update(average.detached(), squares.detached(), count.item());
    }
    Tensor normal = centred.times(spread.inverseRoot(Functions.EPSILON).reshaped(broadcast));
    return normal.times(scale.value().reshaped(broadcast)).plus(shift.value().reshaped(broadcast));
  }

  private static long[] others(int axes) {
    long[] others = new long[axes - 1];
    for (int axis = 2; axis < axes; axis++) {
      others[axis - 1] = axis;
    }
    return others;
  }

  private void update(Tensor average, Tensor squares, double count) {
    mean.value().scaleInPlace(1 - MOMENTUM).addInPlace(average, MOMENTUM);
    variance
        .value()
        .scaleInPlace(1 - MOMENTUM)
        .addInPlace(squares, MOMENTUM / Math.max(1, count - 1));
  }
}
