package dev.pipewright.runtime.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.execution.UpdateRule;
import dev.pipewright.model.Optimizer;
import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Steps against the papers' formulas in 64 bits, seed 7. */
class UpdatesTest {
  private static final int STEPS = 5;
  private static final int[] SIZES = {1, 7, 1000, 4099}; // below, at and beyond a vector's width

  private final SplittableRandom random = new SplittableRandom(7);

  private float[] numbers(int size) {
    float[] numbers = new float[size];
    for (int i = 0; i < size; i++) {
      numbers[i] = (float) random.nextDouble(-1, 1);
    }
    return numbers;
  }

  @ParameterizedTest
  @CsvSource({
    "SGD, 0.1, 0, 0",
    "SGD, 0.1, 0, 0.02",
    "MOMENTUM, 0.1, 0.9, 0",
    "MOMENTUM, 0.05, 0.8, 0.01",
    "ADAM, 0.01, 0, 0",
    "ADAM, 0.02, 0, 0.01"
  })
  void stepsFollowTheFormula(Optimizer kind, double rate, double momentum, double decay) {
    UpdateRule rule = new UpdateRule(kind, rate, momentum, decay);
    try (Scope scope = new Scope()) {
      List<Parameter> parameters = new ArrayList<>();
      List<Formula> formulas = new ArrayList<>();
      for (int size : SIZES) {
        float[] first = numbers(size);
        parameters.add(new Parameter("p" + size, Tensor.of(first, size).withGradient()));
        formulas.add(new Formula(rule, first));
      }
      try (Updates updates = new Updates(rule, parameters)) {
        for (int step = 1; step <= STEPS; step++) {
          for (int p = 0; p < SIZES.length; p++) {
            float[] gradient = numbers(SIZES[p]);
            parameters.get(p).value().setGradient(Tensor.of(gradient, SIZES[p]));
            formulas.get(p).step(gradient, step);
          }
          updates.apply(parameters);
        }
        assertEquals(STEPS, updates.steps());
      }
      for (int p = 0; p < SIZES.length; p++) {
        float[] found = parameters.get(p).value().toFloats();
        for (int i = 0; i < found.length; i++) {
          assertEquals(formulas.get(p).value[i], found[i], 2e-6);
        }
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"SGD, 0", "MOMENTUM, 0.9", "ADAM, 0"})
  void whatHasNoGradientStaysAsItIs(Optimizer kind, double momentum) {
    try (Scope scope = new Scope()) {
      float[] values = numbers(5);
      Parameter left = new Parameter("left", Tensor.of(values, 5).withGradient());
      Parameter moved = new Parameter("moved", Tensor.of(values, 5).withGradient());
      moved.value().setGradient(Tensor.ones(5));
      List<Parameter> both = List.of(left, moved);
      try (Updates updates = new Updates(new UpdateRule(kind, 0.5, momentum, 0), both)) {
        updates.apply(both);
      }
      assertArrayEquals(values, left.value().toFloats());
      assertEquals(values[0] - 0.5, moved.value().toFloats()[0], 1e-6);
    }
  }

  /** Polyak's momentum as PyTorch has it; D. Kingma, J. Ba, <i>Adam</i>, ICLR 2015, algorithm 1. */
  private static final class Formula {
    private final UpdateRule rule;
    private final double[] value;
    private final double[] first;
    private final double[] second;

    private Formula(UpdateRule rule, float[] start) {
      this.rule = rule;
      value = new double[start.length];
      first = new double[start.length];
      second = new double[start.length];
      for (int i = 0; i < start.length; i++) {
        value[i] = start[i];
      }
    }

    private void step(float[] gradients, int step) {
      for (int i = 0; i < value.length; i++) {
        double gradient = gradients[i] + rule.decay() * value[i];
        if (rule.kind() == Optimizer.ADAM) {
          first[i] = 0.9 * first[i] + 0.1 * gradient;
          second[i] = 0.999 * second[i] + 0.001 * gradient * gradient;
          double mean = first[i] / (1 - Math.pow(0.9, step));
          double square = second[i] / (1 - Math.pow(0.999, step));
          value[i] -= rule.rate() * mean / (Math.sqrt(square) + 1e-8);
        } else {
          first[i] = rule.momentum() * first[i] + gradient;
          value[i] -= rule.rate() * first[i];
        }
      }
    }
  }
}
