package dev.pipewright.runtime.tensor;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FunctionsTest {
  private static final int SAMPLES = 12;
  private static final int FILTERS = 8;
  private static final int SIZE = 16;
  private static final int STEPS = 4;
  private static final long SEED = 37;

  /** A square one, padded by half of its kernel. */
  private record Convolution(int channels, int kernel, int stride) {
    private int made() {
      return (SIZE + 2 * (kernel / 2) - kernel) / stride + 1;
    }

    private Tensor of(Tensor input, Tensor weight) {
      long padding = kernel / 2;
      return Functions.convolution(
          input,
          weight,
          Optional.empty(),
          new long[] {stride, stride},
          new long[] {padding, padding},
          new long[] {1, 1},
          1);
    }

    /**
     * Of one weight, over all samples and places.
     *
     * @param at its place among them
     */
    private double gradient(float[] x, float[] g, int at) {
      int column = at % kernel;
      int row = at / kernel % kernel;
      int channel = at / (kernel * kernel) % channels;
      int filter = at / (kernel * kernel * channels);
      double sum = 0;
      for (int sample = 0; sample < SAMPLES; sample++) {
        for (int place = 0; place < made() * made(); place++) {
          int down = place / made() * stride + row - kernel / 2;
          int right = place % made() * stride + column - kernel / 2;
          if (0 <= down && down < SIZE && 0 <= right && right < SIZE) {
            int read = ((sample * channels + channel) * SIZE + down) * SIZE + right;
            int wrote = (sample * FILTERS + filter) * made() * made() + place;
            sum += (double) x[read] * g[wrote];
          }
        }
      }
      return sum;
    }
  }

  @BeforeAll
  static void start() {
    Torch.startAlone(1); // with the kernels that worker processes use
  }

  @AfterAll
  static void end() {
    Torch.start(1);
  }

  /**
   * Against plain loops. With processors that have AVX2 only, oneDNN's own kernels for packed maps
   * end the process here.
   */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 7, 8, 9, 15, 16, 17})
  void aConvolutionsWeightsHaveTheGradientOfASum(int channels) {
    try (RandomSource random = new RandomSource(SEED)) {
      for (int kernel : new int[] {1, 3, 5}) {
        for (int stride = 1; stride <= 3; stride++) {
          check(new Convolution(channels, kernel, stride), random);
        }
      }
    }
  }

  private static void check(Convolution convolution, RandomSource random) {
    int kernel = convolution.kernel();
    int made = convolution.made();
    for (int step = 0; step < STEPS; step++) { // what is overwritten shows when it is used again
      try (Scope scope = new Scope()) {
        Tensor input = random.normal(1, SAMPLES, convolution.channels(), SIZE, SIZE).packed();
        Tensor weight =
            random.normal(1, FILTERS, convolution.channels(), kernel, kernel).withGradient();
        Tensor gradient = random.normal(1, SAMPLES, FILTERS, made, made).packed();
        Gradients.add(List.of(convolution.of(input.withGradient(), weight)), List.of(gradient));
        float[] found = weight.gradient().orElseThrow().toFloats();
        float[] x = input.detached().toFloats();
        float[] g = gradient.toFloats();
        for (int at = 0; at < found.length; at++) {
          double expected = convolution.gradient(x, g, at);
          assertEquals(expected, found[at], 1e-3, convolution + " weight " + at);
        }
      }
    }
  }
}
