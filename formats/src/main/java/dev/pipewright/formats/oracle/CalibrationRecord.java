package dev.pipewright.formats.oracle;

import dev.pipewright.predict.transformer.CalibratedConstants;
import dev.pipewright.predict.transformer.CalibratedConstants.Errors;
import dev.pipewright.predict.transformer.CalibratedConstants.HiddenRange;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Calibrated constants with where they come from.
 *
 * @param machine whose runs alone were fitted; empty for constants that hold in general
 * @param date of the calibration, as {@code 2026-11-28}
 * @param rows measured steps of the calibration
 * @param constants in the order of the file
 * @param errors intervals by class of runs
 * @param ranges fitted hidden sizes
 */
public record CalibrationRecord(
    Optional<String> machine,
    String date,
    int rows,
    List<Constant> constants,
    Map<String, Errors> errors,
    Map<String, HiddenRange> ranges) {
  /**
   * One constant.
   *
   * @param spread standard deviation of its logarithm; 0 for one that was not fitted
   * @param rows measured steps that depend on it
   * @param source how its value was found
   * @param date when
   */
  public record Constant(
      String name, double value, double spread, int rows, String source, String date) {}

  public CalibrationRecord {
    constants = List.copyOf(constants);
    errors = Map.copyOf(errors);
    ranges = Map.copyOf(ranges);
  }

  /** The values, for the oracle. */
  public CalibratedConstants calibrated() {
    Map<String, Double> values = new LinkedHashMap<>();
    constants.forEach(each -> values.put(each.name(), each.value()));
    return new CalibratedConstants(values, errors, ranges);
  }
}
