package dev.pipewright.runtime.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

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

/** Llama's and Mixtral's blocks against plain loops over arrays that say what they compute. */
class ShapedBlockRefereeTest {
  private static final int STEPS = 5;
  private static final int HIDDEN = 6;
  private static final int HEADS = 4;
  private static final int KEY_HEADS = 2;
  private static final int WIDTH = 2;

  @BeforeAll
  static void start() {
    Torch.start(1);
  }

  private final Map<String, float[]> values = new HashMap<>();

  @Test
  void llamasBlockRotatesAndGates() {
    assertBlock(ShapedBlocks.llama(HIDDEN, STEPS));
  }

  @Test
  void mixtralsBlockSendsEachTokenToTwoExperts() {
    assertBlock(ShapedBlocks.mixtral(HIDDEN, STEPS));
  }

  private void assertBlock(Operator.ShapedBlock block) {
    Layer layer =
        new Layer("layer", block, Optional.of(Shape.of(STEPS, HIDDEN)), 1, 1, 1, Work.NONE);
    Module module = new Modules(LayerGraph.chain("one", List.of(layer)), 23).of(0);
    float[] input;
    float[] found;
    try (RandomSource random = new RandomSource(29)) {
      for (Parameter parameter : module.parameters()) {
        Tensor value = parameter.value().detached();
        value.addInPlace(random.normal(0.5, value.shape()));
        values.put(parameter.name().substring("layer.".length()), value.toFloats());
      }
      Tensor read = random.normal(1, 1, STEPS, HIDDEN);
      input = read.toFloats();
      found =
          module
              .forward(List.of(read), ForwardPass.training(false, SharedStatistics.OWN))
              .detached()
              .toFloats();
    }
    double[][] states = new double[STEPS][HIDDEN];
    for (int i = 0; i < input.length; i++) {
      states[i / HIDDEN][i % HIDDEN] = input[i];
    }
    add(states, attention(norm(states, "attention.scale")));
    double[][] read = norm(states, "perceptron.scale");
    for (int step = 0; step < STEPS; step++) {
      double[] made =
          values.containsKey("router.weight")
              ? mixture(read[step])
              : gated(read[step], "perceptron", 0, ShapedBlocks.GATED.width());
      for (int i = 0; i < HIDDEN; i++) {
        states[step][i] += made[i];
      }
    }
    for (int i = 0; i < found.length; i++) {
      assertEquals(states[i / HIDDEN][i % HIDDEN], found[i], 2e-4, "number " + i);
    }
  }

  private float[] numbers(String name) {
    return Objects.requireNonNull(values.get(name), name);
  }

  private static void add(double[][] states, double[][] more) {
    for (int step = 0; step < STEPS; step++) {
      for (int i = 0; i < HIDDEN; i++) {
        states[step][i] += more[step][i];
      }
    }
  }

  private double[][] norm(double[][] states, String name) {
    double[][] normal = new double[STEPS][HIDDEN];
    for (int step = 0; step < STEPS; step++) {
      double square = Arrays.stream(states[step]).map(x -> x * x).sum() / HIDDEN;
      for (int i = 0; i < HIDDEN; i++) {
        normal[step][i] = states[step][i] / Math.sqrt(square + 1e-5) * numbers(name)[i];
      }
    }
    return normal;
  }

  /** A row times the transpose of a matrix that begins at a number. */
  private double[] product(double[] row, String name, int matrix, int outputs) {
    float[] weight = numbers(name + ".weight");
    double[] product = new double[outputs];
    for (int out = 0; out < outputs; out++) {
      for (int in = 0; in < row.length; in++) {
        product[out] += weight[(matrix * outputs + out) * row.length + in] * row[in];
      }
    }
    return product;
  }

  private double[][] attention(double[][] read) {
    double[][] queries = new double[STEPS][];
    double[][] keys = new double[STEPS][];
    double[][] given = new double[STEPS][];
    for (int step = 0; step < STEPS; step++) {
      queries[step] = rotated(product(read[step], "attention.queries", 0, HEADS * WIDTH), step);
      keys[step] = rotated(product(read[step], "attention.keys", 0, KEY_HEADS * WIDTH), step);
      given[step] = product(read[step], "attention.values", 0, KEY_HEADS * WIDTH);
    }
    double[][] made = new double[STEPS][];
    for (int step = 0; step < STEPS; step++) {
      double[] attended = new double[HEADS * WIDTH];
      for (int head = 0; head < HEADS; head++) {
        int served = head / (HEADS / KEY_HEADS) * WIDTH;
        double[] share = new double[step + 1];
        for (int from = 0; from <= step; from++) {
          double score = 0;
          for (int i = 0; i < WIDTH; i++) {
            score += queries[step][head * WIDTH + i] * keys[from][served + i];
          }
          share[from] = Math.exp(score / Math.sqrt(WIDTH));
        }
        double total = Arrays.stream(share).sum();
        for (int from = 0; from <= step; from++) {
          for (int i = 0; i < WIDTH; i++) {
            attended[head * WIDTH + i] += share[from] / total * given[from][served + i];
          }
        }
      }
      made[step] = product(attended, "attention.out", 0, HIDDEN);
    }
    return made;
  }

  /** Heads have one pair of features, which turns by one radian a step. */
  private static double[] rotated(double[] heads, int step) {
    double[] turned = new double[heads.length];
    for (int i = 0; i < heads.length; i += WIDTH) {
      turned[i] = heads[i] * Math.cos(step) - heads[i + 1] * Math.sin(step);
      turned[i + 1] = heads[i + 1] * Math.cos(step) + heads[i] * Math.sin(step);
    }
    return turned;
  }

  private double[] gated(double[] row, String name, int matrix, int width) {
    double[] gate = product(row, name + ".gate", matrix, width);
    double[] inner = product(row, name + ".in", matrix, width);
    for (int i = 0; i < width; i++) {
      inner[i] *= gate[i] / (1 + Math.exp(-gate[i]));
    }
    return product(inner, name + ".out", matrix, HIDDEN);
  }

  private double[] mixture(double[] row) {
    int experts = ShapedBlocks.MIXTURE.experts();
    double[] scores = product(row, "router", 0, experts);
    double[] sorted = Arrays.stream(scores).sorted().toArray();
    double total = 0;
    int chosen = 0;
    double[] made = new double[HIDDEN];
    for (int expert = 0; expert < experts; expert++) {
      if (scores[expert] >= sorted[experts - 2]) {
        double weight = Math.exp(scores[expert]);
        double[] own = gated(row, "experts", expert, ShapedBlocks.GATED.width());
        for (int i = 0; i < HIDDEN; i++) {
          made[i] += weight * own[i];
        }
        total += weight;
        chosen++;
      }
    }
    assertTrue(chosen == 2, "ties");
    for (int i = 0; i < HIDDEN; i++) {
      made[i] /= total;
    }
    return made;
  }
}
