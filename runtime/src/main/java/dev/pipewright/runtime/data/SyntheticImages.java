package dev.pipewright.runtime.data;

import dev.pipewright.model.Shape;
import java.util.List;

/**
 * Images of classes: each class has a coarse pattern, and a sample is its class's pattern under
 * noise. A pattern has at most eight cells along each axis of an image, so that a network that
 * looks at neighbourhoods finds it as well as one that looks at single numbers.
 */
final class SyntheticImages implements Dataset {
  private static final int CELLS = 8; // along an axis of an image
  private static final int ROW_CELLS = 64; // of a row of features

  private final long samples;
  private final long seed;
  private final int classes;
  private final Shape shape;
  private final int[] cellOf; // by place in a channel
  private final int cells; // of a channel
  private final int channels;

  SyntheticImages(long samples, long seed, int classes, Shape shape) {
    this.samples = samples;
    this.seed = seed;
    this.classes = classes;
    this.shape = shape;
    boolean row = shape.extents().size() == 1;
    List<Integer> axes = row ? shape.extents() : shape.extents().subList(1, shape.extents().size());
    this.channels = row ? 1 : shape.extent(0);
    this.cellOf = new int[Math.toIntExact(shape.elements() / channels)];
    this.cells = fill(axes, row ? ROW_CELLS : CELLS);
  }

  /** Numbers the cells; returns how many there are. */
  private int fill(List<Integer> axes, int most) {
    int all = 1;
    int inner = cellOf.length; // positions after one step along the axis
    for (int extent : axes) {
      inner /= extent;
      int count = Math.min(extent, most);
      for (int place = 0; place < cellOf.length; place++) {
        int along = place / inner % extent;
        cellOf[place] = cellOf[place] * count + (int) ((long) along * count / extent);
      }
      all *= count;
    }
    return all;
  }

  @Override
  public long samples() {
    return samples;
  }

  private int classOf(long number) {
    return new RandomStream(seed, number, 1).below(classes);
  }

  @Override
  public List<HostValues> inputs(long[] numbers) {
    int elements = Math.toIntExact(shape.elements());
    float[] values = new float[Math.multiplyExact(numbers.length, elements)];
    for (int i = 0; i < numbers.length; i++) {
      draw(numbers[i], values, i * elements);
    }
    return List.of(new HostValues.Floating(values, Batches.shape(numbers.length, shape)));
  }

  private void draw(long number, float[] values, int from) {
    float[] pattern = new float[channels * cells];
    RandomStream ofClass = new RandomStream(seed, classOf(number), 2);
    for (int i = 0; i < pattern.length; i++) {
      pattern[i] = ofClass.symmetric();
    }
    RandomStream noise = new RandomStream(seed, number, 3);
    int at = from;
    for (int channel = 0; channel < channels; channel++) {
      for (int cell : cellOf) {
        values[at++] = pattern[channel * cells + cell] + noise.noise();
      }
    }
  }

  @Override
  public HostValues target(long[] numbers) {
    return Batches.classes(numbers, this::classOf);
  }
}
