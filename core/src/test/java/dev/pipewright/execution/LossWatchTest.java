package dev.pipewright.execution;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LossWatchTest {
  private static List<String> of(double... losses) {
    List<StepResult> steps = new ArrayList<>();
    for (int step = 0; step < losses.length; step++) {
      steps.add(new StepResult(step, losses[step], Double.NaN, 8, 0.1, 0));
    }
    return LossWatch.of(0.01, steps);
  }

  @Test
  void aLossThatFallsOrWavesIsNotRemarkedOn() {
    assertEquals(List.of(), of(2.3, 4.6, 22.9, 2.2, 1e-6, 1e-3));
    assertEquals(List.of(), of(0, 1));
  }

  @Test
  void aLossThatGrowsTenfoldIsRemarkedOnOnce() {
    assertEquals(
        List.of(
            "the loss has grown from 2.500 to 25.00 in step 3; training diverges, try a"
                + " --learning-rate below 0.01"),
        of(2.5, 2.4, 25, 300));
  }

  @Test
  void aLossThatIsNoNumberIsRemarkedOnWithItsStep() {
    assertEquals(
        List.of("the loss is NaN since step 2; start again with a --learning-rate below 0.01"),
        of(2.5, Double.NaN, Double.NaN));
    assertEquals(
        List.of("the loss is infinite since step 1; start again with a --learning-rate below 0.01"),
        of(Double.POSITIVE_INFINITY, Double.NaN));
  }
}
