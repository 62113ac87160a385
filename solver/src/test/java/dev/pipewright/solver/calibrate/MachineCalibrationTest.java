package dev.pipewright.solver.calibrate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.predict.transformer.CalibratedConstants;
import dev.pipewright.predict.transformer.CalibratedConstants.Errors;
import dev.pipewright.predict.transformer.CalibratedConstants.LogInterval;
import dev.pipewright.predict.transformer.MeasuredStep;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class MachineCalibrationTest {
  private static CalibratedConstants general() {
    Map<String, Double> starts = new HashMap<>();
    SyntheticSteps.FREE.forEach(each -> starts.put(each.name(), each.start()));
    starts.put("clock.b200", 1.1);
    Errors wide = new Errors(new LogInterval(-0.01, 0.01), new LogInterval(-0.3, 0.2), 0.5);
    return new CalibratedConstants(
        SyntheticSteps.OTHERS.with(starts).values(), Map.of("dense", wide, "moe", wide), Map.of());
  }

  private static double value(CalibratedConstants constants, String name) {
    return Objects.requireNonNull(constants.values().get(name), name);
  }

  private static List<MeasuredStep> slowMachine() {
    return SyntheticSteps.measured(
        general().with(Map.of("eps.a100.half", 0.6, "eta", 0.5, "phi.cudnn", 0.4)), i -> 1);
  }

  @Test
  void aSlowMachineIsFoundOut() {
    MachineCalibration found = MachineCalibration.of(slowMachine(), general());
    assertEquals(0.6, value(found.fit().constants(), "eps.a100.half"), 0.02);
    assertEquals(0.4, value(found.fit().constants(), "phi.cudnn"), 0.03);
    assertTrue(StepErrors.of(found.before()).mean() > 0.12, "" + StepErrors.of(found.before()));
    assertTrue(StepErrors.of(found.fit().residuals()).mean() < 0.01);
    assertTrue(StepErrors.of(found.leftOut()).mean() < 0.02);
  }

  @Test
  void theMostInfluentialConstantsMoveAndNoOthers() {
    MachineCalibration found = MachineCalibration.of(slowMachine(), general());
    List<String> names = found.free().stream().map(FreeConstant::name).toList();
    assertTrue(7 <= names.size() && names.size() <= 9, names.toString());
    assertEquals("eps.a100.half", names.get(0));
    assertTrue(names.contains("phi.cudnn") && names.contains("eta"), names.toString());
    Map<String, Double> rest = new TreeMap<>(general().values());
    Map<String, Double> fitted = new TreeMap<>(found.fit().constants().values());
    names.forEach(name -> {
      rest.remove(name);
      fitted.remove(name);
    });
    assertEquals(rest, fitted);
    for (FreeConstant each : found.free()) {
      assertTrue(each.low() >= 0.499 * each.start() && each.high() <= 2 * each.start());
    }
  }

  @Test
  void sharesStayBelowTheWhole() {
    List<MeasuredStep> steps =
        SyntheticSteps.measured(general().with(Map.of("eps.a100.half", 1.4)), i -> 1);
    MachineCalibration found = MachineCalibration.of(steps, general());
    assertEquals(0.99, value(found.fit().constants(), "eps.a100.half"), 1e-9);
  }

  @Test
  void intervalsAndRangesComeFromTheseSteps() {
    List<MeasuredStep> steps = slowMachine();
    MachineCalibration found = MachineCalibration.of(steps, general());
    CalibratedConstants constants = found.calibrated(steps);
    assertEquals(1, constants.ranges().size());
    assertEquals(
        new CalibratedConstants.HiddenRange(1024, 8192),
        constants.ranges().get("nemo | a100 | half dense"));
    Errors own = Objects.requireNonNull(constants.errors().get("nemo"));
    assertEquals(ConformalInterval.of(found.leftOut(), 0.9), own.inside());
    assertEquals(new LogInterval(-0.3, 0.2), own.outside());
    assertEquals(LayoutDifferences.of(steps, found.leftOut(), 0.9).getAsDouble(), own.difference());
    assertEquals("nemo", constants.errorClass(steps.get(0).run()));
    assertEquals(general().errors().get("moe"), constants.errors().get("moe"));
  }

  @Test
  void fewStepsOrOneNetworkAreRefused() {
    List<MeasuredStep> steps = slowMachine();
    String few =
        String.valueOf(
            assertThrows(
                    IllegalArgumentException.class,
                    () -> MachineCalibration.of(steps.subList(0, 11), general()))
                .getMessage());
    assertEquals(
        "11 runs of 2 networks decide too little; give at least 12 runs of 2 networks", few);
    List<MeasuredStep> one =
        steps.stream().map(s -> new MeasuredStep(s.id(), "one", s.run(), s.seconds(), 1)).toList();
    assertThrows(IllegalArgumentException.class, () -> MachineCalibration.of(one, general()));
  }
}
