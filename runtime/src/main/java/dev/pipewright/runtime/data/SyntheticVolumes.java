package dev.pipewright.runtime.data;

import dev.pipewright.model.Shape;
import java.util.List;

/**
 * Random fields in space, as matter in the universe is one: sums of plane waves with random
 * directions and phases. The answers are the four numbers, each from −1 to 1, that a field was made
 * with: how strong it is, how fine, how lopsided, and what lies below it.
 *
 * <p>The task is CosmoFlow's (A. Mathuriya et al., SC 2018, arXiv:1808.04728), the fields are not:
 * no gravity has worked on them.
 */
final class SyntheticVolumes implements Dataset {
  static final int PARAMETERS = 4;
  private static final int WAVES = 6;
  private static final float NOISE = 0.1f;
  private static final double COARSEST = 2; // waves across the volume

  private final long samples;
  private final long seed;
  private final int quantities;
  private final Shape shape;

  /**
   * @param quantities how many of the four are asked for
   * @param shape channels × depth × height × width, or two spatial axes
   */
  SyntheticVolumes(long samples, long seed, int quantities, Shape shape) {
    this.samples = samples;
    this.seed = seed;
    this.quantities = quantities;
    this.shape = shape;
  }

  @Override
  public long samples() {
    return samples;
  }

  private float[] parameters(long number) {
    RandomStream draw = new RandomStream(seed, number, 1);
    float[] parameters = new float[PARAMETERS];
    for (int i = 0; i < PARAMETERS; i++) {
      parameters[i] = draw.symmetric();
    }
    return parameters;
  }

  @Override
  public HostValues target(long[] numbers) {
    float[] values = new float[numbers.length * quantities];
    for (int i = 0; i < numbers.length; i++) {
      System.arraycopy(parameters(numbers[i]), 0, values, i * quantities, quantities);
    }
    return new HostValues.Floating(values, numbers.length, quantities);
  }

  @Override
  public List<HostValues> inputs(long[] numbers) {
    int elements = Math.toIntExact(shape.elements());
    float[] values = new float[Math.multiplyExact(numbers.length, elements)];
    for (int i = 0; i < numbers.length; i++) {
      float[] parameters = parameters(numbers[i]);
      int channels = shape.extent(0);
      int places = elements / channels;
      for (int channel = 0; channel < channels; channel++) {
        int from = i * elements + channel * places;
        RandomStream draw = new RandomStream(seed, numbers[i], channel, 2);
        addWaves(parameters[1], draw, values, from, places);
        finish(parameters, draw, values, from, places);
      }
    }
    return List.of(new HostValues.Floating(values, Batches.shape(numbers.length, shape)));
  }

  /** Adds waves of deviation 1 together. */
  private void addWaves(float fineness, RandomStream draw, float[] values, int from, int places) {
    double wavesAcross = COARSEST * StrictMath.pow(2, 1 + fineness);
    int axes = shape.extents().size() - 1;
    float height = (float) StrictMath.sqrt(2.0 / WAVES);
    for (int microBatching = 0; microBatching < WAVES; microBatching++) {
      double[] direction = direction(axes, draw);
      float[][] turns = new float[axes][]; // cosine and sine at each place along an axis
      for (int axis = 0; axis < axes; axis++) {
        double phase = axis == 0 ? 2 * StrictMath.PI * draw.uniform() : 0;
        turns[axis] = turns(shape.extent(axis + 1), wavesAcross * direction[axis], phase);
      }
      add(turns, height, values, from, places);
    }
  }

  private static double[] direction(int axes, RandomStream draw) {
    double[] direction = new double[axes];
    double square = 0;
    for (int axis = 0; axis < axes; axis++) {
      direction[axis] = draw.noise();
      square += direction[axis] * direction[axis];
    }
    for (int axis = 0; axis < axes; axis++) {
      direction[axis] /= StrictMath.sqrt(Math.max(square, 1e-12));
    }
    return direction;
  }

  private static float[] turns(int extent, double wavesAcross, double phase) {
    float[] turns = new float[2 * extent];
    for (int place = 0; place < extent; place++) {
      double angle = phase + 2 * StrictMath.PI * wavesAcross * place / extent;
      turns[2 * place] = (float) StrictMath.cos(angle);
      turns[2 * place + 1] = (float) StrictMath.sin(angle);
    }
    return turns;
  }

  /** A wave over all axes is the product of its turns along each; its real part is added. */
  private void add(float[][] turns, float height, float[] values, int from, int places) {
    int axes = turns.length;
    int inner = turns[axes - 1].length / 2;
    float[] last = turns[axes - 1];
    for (int row = 0; row < places / inner; row++) {
      float cosine = height;
      float sine = 0;
      int rest = row;
      for (int axis = axes - 2; axis >= 0; axis--) {
        int extent = turns[axis].length / 2;
        float c = turns[axis][2 * (rest % extent)];
        float s = turns[axis][2 * (rest % extent) + 1];
        float turned = cosine * c - sine * s;
        sine = cosine * s + sine * c;
        cosine = turned;
        rest /= extent;
      }
      int at = from + row * inner;
      for (int place = 0; place < inner; place++) {
        values[at + place] += cosine * last[2 * place] - sine * last[2 * place + 1];
      }
    }
  }

  /** Height, lopsidedness and level, under a little noise. */
  private static void finish(
      float[] parameters, RandomStream draw, float[] values, int from, int places) {
    float height = 1 + 0.5f * parameters[0];
    float lopsided = 0.5f * parameters[2];
    for (int at = from; at < from + places; at++) {
      float microBatching = height * values[at];
      float bent = microBatching + lopsided * (microBatching * microBatching - height * height);
      values[at] = bent + parameters[3] + NOISE * draw.noise();
    }
  }
}
