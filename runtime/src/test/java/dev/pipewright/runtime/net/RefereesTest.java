package dev.pipewright.runtime.net;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Shape;
import dev.pipewright.model.Work;
import dev.pipewright.runtime.tensor.RandomSource;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.tensor.Torch;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Layers against plain loops over arrays that say what they compute. */
class RefereesTest {
  private static final int STEPS = 5;
  private static final int HIDDEN = 6;
  private static final int HEADS = 2;

  @BeforeAll
  static void start() {
    Torch.start(1);
  }

  private static Module module(Operator operator, Shape output) {
    Layer layer = new Layer("layer", operator, Optional.of(output), 1, 1, 1, Work.NONE);
    return new Modules(LayerGraph.chain("one", List.of(layer)), 23).of(0);
  }

  /** Parameters with numbers of which none is 0 or 1, so that each of them shows. */
  private static Map<String, float[]> shaken(Module module) {
    Map<String, float[]> values = new HashMap<>();
    try (RandomSource random = new RandomSource(29)) {
      for (Parameter parameter : module.parameters()) {
        Tensor value = parameter.value().detached();
        value.addInPlace(random.normal(0.5, value.shape()));
        values.put(parameter.name().substring("layer.".length()), value.toFloats());
      }
    }
    return values;
  }

  private static float[] numbers(Map<String, float[]> values, String name) {
    return Objects.requireNonNull(values.get(name), name);
  }

  private static Tensor input(long... shape) {
    try (RandomSource random = new RandomSource(31)) {
      return random.normal(1, shape);
    }
  }

  private static float[] forward(Module module, Tensor input) {
    return module
        .forward(List.of(input), ForwardPass.training(false, SharedStatistics.OWN))
        .detached()
        .toFloats();
  }

  @Test
  void aConvolutionIsASumOverItsWindowAndItsGroup() {
    int[] stride = {2, 1};
    int[] padding = {1, 2};
    int[] dilation = {1, 2};
    var operator =
        new Operator.Convolution(
            4, 6, List.of(3, 2), List.of(2, 1), List.of(1, 2), List.of(1, 2), 2, true);
    Module module = module(operator, Shape.of(6, 3, 8));
    Map<String, float[]> values = shaken(module);
    Tensor input = input(1, 4, 5, 6);
    float[] found = forward(module, input);
    float[] x = input.toFloats();
    float[] weight = numbers(values, "weight");
    for (int out = 0; out < found.length; out++) {
      int filter = out / 24;
      double sum = numbers(values, "bias")[filter];
      for (int tap = 0; tap < 12; tap++) {
        int channel = filter / 3 * 2 + tap / 6;
        int row = out / 8 % 3 * stride[0] + tap / 2 % 3 * dilation[0] - padding[0];
        int column = out % 8 * stride[1] + tap % 2 * dilation[1] - padding[1];
        if (row >= 0 && row < 5 && column >= 0 && column < 6) {
          sum += weight[filter * 12 + tap] * x[channel * 30 + row * 6 + column];
        }
      }
      assertEquals(sum, found[out], 1e-4, "place " + out);
    }
  }

  /** Vaswani et al., NIPS 2017, §3; normalised first as GPT, or the sums as there and in BERT. */
  @ParameterizedTest
  @CsvSource({"true, true", "false, true", "false, false", "true, false"})
  void aBlockIsAttentionAndAPerceptron(boolean causal, boolean normalizedFirst) {
    var operator = new Operator.TransformerBlock(HIDDEN, HEADS, STEPS, causal, normalizedFirst);
    Module module = module(operator, Shape.of(STEPS, HIDDEN));
    Map<String, float[]> values = shaken(module);
    Tensor input = input(1, STEPS, HIDDEN);
    double[][] x = rows(input.toFloats(), HIDDEN);
    double[][] expected = block(x, new double[STEPS][STEPS], values, causal, normalizedFirst);
    assertClose(expected, rows(forward(module, input), HIDDEN));
  }

  /** What the mask has is added to the scores: a large negative number hides a step. */
  @Test
  void aMaskIsAddedToTheScores() {
    var operator = new Operator.TransformerBlock(HIDDEN, HEADS, STEPS, false, false);
    Module module = module(operator, Shape.of(STEPS, HIDDEN));
    Map<String, float[]> values = shaken(module);
    Tensor input = input(1, STEPS, HIDDEN + STEPS);
    double[][] both = rows(input.toFloats(), HIDDEN + STEPS);
    double[][] x = new double[STEPS][];
    double[][] mask = new double[STEPS][];
    for (int step = 0; step < STEPS; step++) {
      x[step] = Arrays.copyOf(both[step], HIDDEN);
      mask[step] = Arrays.copyOfRange(both[step], HIDDEN, HIDDEN + STEPS);
    }
    double[][] expected = block(x, mask, values, false, false);
    assertClose(expected, rows(forward(module, input), HIDDEN));
  }

  private static double[][] block(
      double[][] x, double[][] mask, Map<String, float[]> v, boolean causal, boolean first) {
    if (first) {
      double[][] sum = sum(x, attention(norm(x, v, "attention."), mask, v, causal));
      return sum(sum, perceptron(norm(sum, v, "perceptron."), v));
    }
    double[][] states = norm(sum(x, attention(x, mask, v, causal)), v, "attention.");
    return norm(sum(states, perceptron(states, v)), v, "perceptron.");
  }

  private static double[][] attention(
      double[][] x, double[][] mask, Map<String, float[]> v, boolean causal) {
    double[][] three = product(x, v, "attention.in", 3 * HIDDEN);
    double[][] attended = new double[STEPS][HIDDEN];
    int width = HIDDEN / HEADS;
    for (int head = 0; head < HEADS; head++) {
      for (int to = 0; to < STEPS; to++) {
        double[] share = new double[STEPS];
        double total = 0;
        for (int from = 0; from < (causal ? to + 1 : STEPS); from++) {
          double score = 0;
          for (int i = head * width; i < (head + 1) * width; i++) {
            score += three[to][i] * three[from][HIDDEN + i];
          }
          share[from] = Math.exp(score / Math.sqrt(width) + mask[to][from]);
          total += share[from];
        }
        for (int from = 0; from < STEPS; from++) {
          for (int i = head * width; i < (head + 1) * width; i++) {
            attended[to][i] += share[from] / total * three[from][2 * HIDDEN + i];
          }
        }
      }
    }
    return product(attended, v, "attention.out", HIDDEN);
  }

  private static double[][] perceptron(double[][] x, Map<String, float[]> v) {
    double[][] inner = product(x, v, "perceptron.in", 4 * HIDDEN);
    for (double[] row : inner) {
      for (int i = 0; i < row.length; i++) {
        row[i] *= (1 + error(row[i] / Math.sqrt(2))) / 2; // the GELU
      }
    }
    return product(inner, v, "perceptron.out", HIDDEN);
  }

  /** The error function, by its series. */
  private static double error(double x) {
    double term = x;
    double sum = x;
    for (int n = 1; n < 200; n++) {
      term *= -x * x / n;
      sum += term / (2 * n + 1);
    }
    return Math.abs(x) > 4 ? Math.signum(x) : 2 / Math.sqrt(Math.PI) * sum;
  }

  private static double[][] norm(double[][] x, Map<String, float[]> v, String name) {
    double[][] normal = new double[x.length][HIDDEN];
    for (int row = 0; row < x.length; row++) {
      double mean = Arrays.stream(x[row]).average().orElseThrow();
      double variance = Arrays.stream(x[row]).map(n -> (n - mean) * (n - mean)).sum() / HIDDEN;
      for (int i = 0; i < HIDDEN; i++) {
        double centred = (x[row][i] - mean) / Math.sqrt(variance + 1e-5);
        normal[row][i] = centred * numbers(v, name + "scale")[i] + numbers(v, name + "shift")[i];
      }
    }
    return normal;
  }

  private static double[][] product(
      double[][] x, Map<String, float[]> v, String name, int features) {
    float[] weight = numbers(v, name + ".weight");
    double[][] product = new double[x.length][features];
    for (int row = 0; row < x.length; row++) {
      for (int i = 0; i < features; i++) {
        product[row][i] = numbers(v, name + ".bias")[i];
        for (int j = 0; j < x[row].length; j++) {
          product[row][i] += weight[i * x[row].length + j] * x[row][j];
        }
      }
    }
    return product;
  }

  private static double[][] sum(double[][] a, double[][] b) {
    double[][] sum = new double[a.length][HIDDEN];
    for (int row = 0; row < a.length; row++) {
      for (int i = 0; i < HIDDEN; i++) {
        sum[row][i] = a[row][i] + b[row][i];
      }
    }
    return sum;
  }

  private static double[][] rows(float[] numbers, int width) {
    double[][] rows = new double[numbers.length / width][width];
    for (int i = 0; i < numbers.length; i++) {
      rows[i / width][i % width] = numbers[i];
    }
    return rows;
  }

  private static void assertClose(double[][] expected, double[][] found) {
    assertEquals(expected.length, found.length);
    for (int row = 0; row < expected.length; row++) {
      for (int i = 0; i < expected[row].length; i++) {
        assertEquals(expected[row][i], found[row][i], 1e-4, row + ", " + i);
      }
    }
  }
}
