package dev.pipewright.solver.calibrate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.predict.transformer.MeasuredStep;
import java.util.List;
import org.junit.jupiter.api.Test;

class LeftOutGroupsTest {
  private static double[] leftOut(List<MeasuredStep> steps) {
    return LeftOutGroups.residuals(
        steps, SyntheticSteps.FREE, SyntheticSteps.OTHERS, MeasuredStep::group);
  }

  @Test
  void aGroupIsPredictedWithoutItsSteps() {
    // all steps of one network are slow: only a fit that saw them could know
    List<MeasuredStep> steps =
        SyntheticSteps.measured(SyntheticSteps.truth(), i -> i / 8 == 2 ? 1.2 : 1);
    double[] residuals = leftOut(steps);
    for (int i = 0; i < residuals.length; i++) {
      double expected = i / 8 == 2 ? -Math.log(1.2) : 0;
      assertEquals(expected, residuals[i], i / 8 == 2 ? 0.01 : 0.06, steps.get(i).id());
    }
    List<MeasuredStep> others =
        steps.stream().filter(step -> !step.group().equals("h1024")).toList();
    ConstantsFit without = ConstantsFit.of(others, SyntheticSteps.FREE, SyntheticSteps.OTHERS);
    for (int i = 0; i < 8; i++) {
      assertEquals(steps.get(i).residual(without.constants()), residuals[i]);
    }
  }

  @Test
  void stepsFromKnownConstantsAreForeseen() {
    double[] residuals = leftOut(SyntheticSteps.measured(SyntheticSteps.truth(), i -> 1));
    assertTrue(StepErrors.of(residuals).worst() < 0.005, "worst " + StepErrors.of(residuals));
  }

  @Test
  void oneGroupCannotBeLeftOut() {
    List<MeasuredStep> one =
        SyntheticSteps.measured(SyntheticSteps.truth(), i -> 1).stream()
            .filter(step -> step.group().equals("h2048"))
            .toList();
    assertThrows(IllegalArgumentException.class, () -> leftOut(one));
  }
}
