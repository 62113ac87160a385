package dev.pipewright.model;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.units.Precision;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TrainingTest {
  /** Counted by hand: weight + 32-bit gradient + 32-bit master of 16-bit weights + moments. */
  @ParameterizedTest
  @CsvSource({
    // optimizer, precision, weight, gradient, optimizer state, all
    "SGD,      FP32, 4, 4,  0,  8",
    "SGD,      TF32, 4, 4,  0,  8",
    "SGD,      FP16, 2, 4,  4, 10",
    "SGD,      BF16, 2, 4,  4, 10",
    "MOMENTUM, FP32, 4, 4,  4, 12",
    "MOMENTUM, TF32, 4, 4,  4, 12",
    "MOMENTUM, FP16, 2, 4,  8, 14",
    "MOMENTUM, BF16, 2, 4,  8, 14",
    "RMSPROP,  FP32, 4, 4,  4, 12",
    "RMSPROP,  BF16, 2, 4,  8, 14",
    "ADAM,     FP32, 4, 4,  8, 16",
    "ADAM,     TF32, 4, 4,  8, 16",
    "ADAM,     FP16, 2, 4, 12, 18",
    "ADAM,     BF16, 2, 4, 12, 18"
  })
  void everyParameterHasWeightGradientAndState(
      Optimizer optimizer, Precision precision, int weight, int gradient, int state, int all) {
    Training training = new Training(optimizer, precision);
    assertEquals(weight, precision.bytes());
    assertEquals(gradient, training.gradientBytes());
    assertEquals(state, training.optimizerBytes());
    assertEquals(all, training.staticBytesPerParameter());
  }
}
