package dev.pipewright.runtime.tensor;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FunctionsTest {
  private static final int SAMPLES = 12;
  private static final int FILTERS = 8;
  private static final int SIZE = 16;
  private static final int STRIDE = 2;
  private static final int STEPS = 4;
  private static final long SEED = 37;

  @BeforeAll
  static void start() {
    Torch.start(1);
  }

  /** Against plain loops; oneDNN's own kernels for packed maps end the process here. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 7, 8, 15, 16, 17})
  void aConvolutionThatSkipsPlacesHasTheGradientOfASum(int channels) {
    int made = SIZE / STRIDE;
    long[] dense = {1, 1};
    try (RandomSource random = new RandomSource(SEED)) {
      for (int step = 0; step < STEPS; step++) { // what is overwritten shows when it is used again
        try (Scope scope = new Scope()) {
          Tensor input = random.normal(1, SAMPLES, channels, SIZE, SIZE).packed().withGradient();
          Tensor weight = random.normal(1, FILTERS, channels, 1, 1).withGradient();
          Tensor output =
              Functions.convolution(
                  input,
                  weight,
                  Optional.empty(),
                  new long[] {STRIDE, STRIDE},
                  new long[2],
                  dense,
                  1);
          Tensor gradient = random.normal(1, SAMPLES, FILTERS, made, made).packed();
          Gradients.add(List.of(output), List.of(gradient));
          float[] found = weight.gradient().orElseThrow().toFloats();
          float[] x = input.detached().toFloats();
          float[] g = gradient.toFloats();
          for (int at = 0; at < found.length; at++) {
            assertEquals(sum(x, g, channels, at / channels, at % channels), found[at], 1e-3);
          }
        }
      }
    }
  }

  /** Over all samples and places of what one filter made of one channel. */
  private static double sum(float[] x, float[] g, int channels, int filter, int channel) {
    int made = SIZE / STRIDE;
    double sum = 0;
    for (int sample = 0; sample < SAMPLES; sample++) {
      for (int row = 0; row < made; row++) {
        for (int column = 0; column < made; column++) {
          int from = (sample * channels + channel) * SIZE + STRIDE * row;
          int to = (sample * FILTERS + filter) * made + row;
          sum += (double) x[from * SIZE + STRIDE * column] * g[to * made + column];
        }
      }
    }
    return sum;
  }
}
