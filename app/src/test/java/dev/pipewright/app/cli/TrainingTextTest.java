package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.app.cli.train.TrainingText;
import dev.pipewright.execution.UpdateRule;
import dev.pipewright.model.Optimizer;
import org.junit.jupiter.api.Test;

class TrainingTextTest {
  @Test
  void aStepHasTheUnitsOfAllOtherAnswers() {
    assertEquals("step     1.72 ms, median  (18,637 samples/s)\n", TrainingText.step(0.001717, 32));
    assertEquals("step     2.00 s, median  (4.00 samples/s)\n", TrainingText.step(2, 8));
  }

  @Test
  void ratesAreWrittenAsTheyAreGiven() {
    assertEquals(
        "adam, learning rate 0.0003, weight decay 0.0001",
        TrainingText.rule(new UpdateRule(Optimizer.ADAM, 3e-4, 0, 1e-4)));
    assertEquals(
        "momentum 0.9, learning rate 0.01",
        TrainingText.rule(new UpdateRule(Optimizer.MOMENTUM, 0.01, 0.9, 0)));
  }
}
