package dev.pipewright.bench.oracle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.formats.oracle.CalibratedConstantsJson;
import dev.pipewright.predict.transformer.CalibratedConstants;
import dev.pipewright.predict.transformer.MeasuredStep;
import dev.pipewright.solver.calibrate.StepErrors;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The bars for networks that the constants were not fitted to. */
class UnseenStepsTest {
  private static StepErrors errors(boolean experts) {
    CalibratedConstants shipped = CalibratedConstantsJson.read();
    Stream<MeasuredStep> steps =
        UnseenSteps.read().stream()
            .filter(step -> CalibratedConstants.rangeOf(step.run()).endsWith("moe") == experts);
    return StepErrors.of(steps.mapToDouble(step -> step.residual(shipped)).toArray());
  }

  @Test
  void denseStepsInEightBitsAreWithinEightPerCent() {
    assertEquals(5, errors(false).count());
    assertTrue(errors(false).mean() <= 0.08, "mean " + errors(false).mean());
  }

  @Test
  void stepsOfMixturesOfExpertsAreWithinFifteenPerCent() {
    assertEquals(12, errors(true).count());
    assertTrue(errors(true).mean() <= 0.15, "mean " + errors(true).mean());
  }

  @Test
  void parametersAreThoseOfTheNetworks() {
    List<MeasuredStep> steps = UnseenSteps.read();
    steps.forEach(step -> {
      String network = step.group().split(" \\| ", 2)[0];
      double billions =
          switch (network) {
            case "llama3.1-405b" -> 405.9;
            case "deepseek-v3" -> 671;
            case "qwen3-235b-a22b" -> 235.1;
            case "gpt-oss-120b" -> 116.8;
            default -> 0;
          };
      assertEquals(billions, step.run().shape().parameters() / 1e9, 0.005 * billions, network);
    });
  }
}
