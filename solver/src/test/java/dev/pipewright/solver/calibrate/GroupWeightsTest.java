package dev.pipewright.solver.calibrate;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.predict.transformer.MeasuredStep;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class GroupWeightsTest {
  @Test
  void sixteenStepsOfAGroupWeighTwiceAsMuchAsOne() {
    MeasuredStep one = SyntheticSteps.measured(SyntheticSteps.truth(), i -> 1).get(0);
    List<MeasuredStep> steps = new ArrayList<>();
    for (int i = 0; i < 16; i++) {
      steps.add(new MeasuredStep("many" + i, "many", one.run(), 1, 1));
    }
    steps.add(new MeasuredStep("alone", "alone", one.run(), 1, 0.25));
    List<MeasuredStep> weighted = GroupWeights.of(steps);
    double many = weighted.subList(0, 16).stream().mapToDouble(MeasuredStep::weight).sum();
    assertEquals(2, many, 1e-12); // 16 · 16^−¾
    assertEquals(0.25, weighted.get(16).weight(), 1e-12);
    assertEquals("many3", weighted.get(3).id());
  }
}
