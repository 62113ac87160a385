package dev.pipewright.solver.calibrate;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.predict.transformer.CalibratedConstants;
import dev.pipewright.predict.transformer.MeasuredStep;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class ConstantsFitTest {
  private static final CalibratedConstants TRUTH = SyntheticSteps.truth();

  private static double value(CalibratedConstants constants, String name) {
    return Objects.requireNonNull(constants.values().get(name), name);
  }

  private static void near(double share, ConstantsFit fit) {
    for (FreeConstant each : SyntheticSteps.FREE) {
      double expected = value(TRUTH, each.name());
      assertEquals(expected, value(fit.constants(), each.name()), share * expected, each.name());
    }
  }

  private static ConstantsFit fit(List<MeasuredStep> steps, List<FreeConstant> free) {
    return ConstantsFit.of(steps, free, SyntheticSteps.OTHERS);
  }

  @Test
  void findsTheConstantsThatMadeTheSteps() {
    ConstantsFit fit = fit(SyntheticSteps.measured(TRUTH, i -> 1), SyntheticSteps.FREE);
    near(0.002, fit);
    assertTrue(StepErrors.of(fit.residuals()).worst() < 1e-4);
  }

  @Test
  void noiseMovesConstantsAboutAsFarAsTheirSpreadSays() {
    SplittableRandom random = new SplittableRandom(7);
    double[] noise = random.doubles(48).map(x -> Math.exp(0.02 * (x - 0.5))).toArray();
    ConstantsFit fit = fit(SyntheticSteps.measured(TRUTH, i -> noise[i]), SyntheticSteps.FREE);
    double squares = 0;
    for (FreeConstant each : SyntheticSteps.FREE) {
      double off = Math.log(value(fit.constants(), each.name()) / value(TRUTH, each.name()));
      double spread = Objects.requireNonNull(fit.spread().get(each.name()));
      squares += off * off / (spread * spread);
    }
    double ratio = Math.sqrt(squares / SyntheticSteps.FREE.size());
    assertTrue(0.3 < ratio && ratio < 3, "distances are " + ratio + " spreads");
  }

  @Test
  void aTenthOfSlowRowsPullsLittle() {
    ConstantsFit fit =
        fit(SyntheticSteps.measured(TRUTH, i -> i % 10 == 3 ? 1.5 : 1), SyntheticSteps.FREE);
    assertEquals(0.62, value(fit.constants(), "eps.a100.half"), 0.62 * 0.01);
    assertTrue(StepErrors.of(fit.residuals()).median() < 0.01);
  }

  @Test
  void theSameStepsGiveTheSameConstants() {
    List<MeasuredStep> steps = SyntheticSteps.measured(TRUTH, i -> 1 + 0.01 * (i % 7));
    ConstantsFit once = fit(steps, SyntheticSteps.FREE);
    ConstantsFit twice = fit(steps, SyntheticSteps.FREE);
    assertEquals(once.constants(), twice.constants());
    assertArrayEquals(once.residuals(), twice.residuals());
  }

  @Test
  void aConstantOnItsBoundLeavesTheOthersWhereTheyWouldBeIfItWereFixedThere() {
    List<FreeConstant> free = new ArrayList<>(SyntheticSteps.FREE);
    free.set(0, FreeConstant.of("eps.a100.half", 0.7, 0.64, 0.95, 1e-6)); // the truth is 0.62
    free.set(5, FreeConstant.of("sigma", 0.004, 0.0005, 0.007, 1e-6)); // the truth is 0.009
    List<MeasuredStep> steps = SyntheticSteps.measured(TRUTH, i -> 1);
    ConstantsFit fit = fit(steps, free);
    assertEquals(0.64, value(fit.constants(), "eps.a100.half"), 1e-9);
    assertEquals(0.007, value(fit.constants(), "sigma"), 1e-9);
    List<FreeConstant> rest = new ArrayList<>(free);
    rest.remove(5);
    rest.remove(0);
    ConstantsFit fixed =
        ConstantsFit.of(
            steps, rest, SyntheticSteps.OTHERS.with(Map.of("eps.a100.half", 0.64, "sigma", 0.007)));
    for (FreeConstant each : rest) {
      double expected = value(fixed.constants(), each.name());
      assertEquals(expected, value(fit.constants(), each.name()), 0.005 * expected, each.name());
    }
  }

  @Test
  void aConstantLeavesABoundThatItReachedOnTheWay() {
    List<FreeConstant> free = new ArrayList<>(SyntheticSteps.FREE);
    free.set(2, FreeConstant.of("ew.mcore", 1.701, 1.699, 4, 1e-6)); // an edge next to the truth
    near(0.002, fit(SyntheticSteps.measured(TRUTH, i -> 1), free));
  }

  @Test
  void whatNoStepDecidesStaysAtItsStart() {
    List<FreeConstant> free = new ArrayList<>(SyntheticSteps.FREE);
    free.add(FreeConstant.of("rowwise", 1.4, 1, 3, 0.02));
    ConstantsFit fit = fit(SyntheticSteps.measured(TRUTH, i -> 1.01), free);
    assertEquals(1.4, value(fit.constants(), "rowwise"), 1e-9);
    assertEquals(0, fit.rows().get("rowwise"));
    assertEquals(48, fit.rows().get("eps.a100.half"));
    int piped = Objects.requireNonNull(fit.rows().get("kp"));
    assertTrue(0 < piped && piped <= 24, "24 steps have a pipeline; rows " + piped);
  }

  @Test
  void aChildWithoutRowsFollowsItsParent() {
    List<FreeConstant> free = new ArrayList<>(SyntheticSteps.FREE);
    free.add(
        new FreeConstant(
            "ew.other", 2.4, 0.5, 9, 0.02, Optional.of("ew.mcore"))); // twice its start
    ConstantsFit fit = fit(SyntheticSteps.measured(TRUTH, i -> 1), free);
    assertEquals(2 * value(fit.constants(), "ew.mcore"), value(fit.constants(), "ew.other"), 1e-3);
  }

  @Test
  void aStrongPriorHoldsAConstant() {
    List<FreeConstant> free = new ArrayList<>(SyntheticSteps.FREE);
    free.set(2, FreeConstant.of("ew.mcore", 1.2, 0.5, 4, 100));
    ConstantsFit fit = fit(SyntheticSteps.measured(TRUTH, i -> 1), free);
    assertEquals(1.2, value(fit.constants(), "ew.mcore"), 1e-3);
  }

  @Test
  void weightedStepsCountMore() {
    List<MeasuredStep> steps =
        SyntheticSteps.measured(TRUTH, i -> i % 2 == 0 ? 1 : 1.05).stream()
            .map(step -> {
              boolean slow = Integer.parseInt(step.id().substring(1)) % 2 == 1;
              return new MeasuredStep(
                  step.id(), step.group(), step.run(), step.seconds(), slow ? 0.01 : 1);
            })
            .toList();
    double[] residuals = fit(steps, SyntheticSteps.FREE).residuals();
    assertEquals(0, residuals[0], 0.01);
    assertEquals(-0.0488, residuals[1], 0.01); // ln 1.05
  }

  @Test
  void refusesWhatCannotBeFitted() {
    List<MeasuredStep> steps = SyntheticSteps.measured(TRUTH, i -> 1);
    assertThrows(IllegalArgumentException.class, () -> fit(List.of(), SyntheticSteps.FREE));
    assertThrows(IllegalArgumentException.class, () -> fit(steps, List.of()));
    List<FreeConstant> orphan =
        List.of(new FreeConstant("ew.mcore", 1, 0.5, 2, 0.1, Optional.of("ew")));
    assertThrows(IllegalArgumentException.class, () -> fit(steps, orphan));
    assertThrows(IllegalArgumentException.class, () -> FreeConstant.of("chi", 0.5, 0.5, 0.9, 0.02));
  }

  @Test
  void slopesEqualDifferencesOfValues() {
    List<FreeConstant> free =
        SyntheticSteps.FREE.stream()
            .map(each -> FreeConstant.of(each.name(), each.start(), each.low(), each.high(), 0.3))
            .toList();
    StepResiduals model =
        new StepResiduals(
            SyntheticSteps.measured(TRUTH, i -> 1 + 0.1 * (i % 3)).stream()
                .map(step ->
                    new MeasuredStep(step.id(), step.group(), step.run(), step.seconds(), 0.3))
                .toList(),
            free,
            SyntheticSteps.OTHERS);
    double[] at = model.start();
    double[] before = model.computeValue(at).toArray();
    for (int j = 0; j < free.size(); j++) {
      double[] moved = at.clone();
      moved[j] += 1e-4;
      double[] after = model.computeValue(moved).toArray();
      double[] slopes = model.computeJacobian(at).getColumn(j);
      for (int i = 0; i < slopes.length; i++) {
        assertEquals((after[i] - before[i]) / 1e-4, slopes[i], 1e-3, free.get(j) + " row " + i);
      }
    }
  }
}
