package dev.pipewright.runtime.data;

import dev.pipewright.model.Shape;
import java.util.function.LongToIntFunction;

/** Values of several samples, one after the other. */
final class Batches {
  private Batches() {}

  /** The extents of so many samples. */
  static long[] shape(int samples, Shape sample) {
    long[] shape = new long[1 + sample.extents().size()];
    shape[0] = samples;
    for (int axis = 1; axis < shape.length; axis++) {
      shape[axis] = sample.extent(axis - 1);
    }
    return shape;
  }

  /** A class for each sample. */
  static HostValues classes(long[] numbers, LongToIntFunction classOf) {
    long[] classes = new long[numbers.length];
    for (int i = 0; i < classes.length; i++) {
      classes[i] = classOf.applyAsInt(numbers[i]);
    }
    return new HostValues.Whole(classes, classes.length);
  }

  /** Tokens of a batch, the same number for each sample. */
  static HostValues tokens(long[] tokens, int samples) {
    return new HostValues.Whole(tokens, samples, tokens.length / samples);
  }
}
