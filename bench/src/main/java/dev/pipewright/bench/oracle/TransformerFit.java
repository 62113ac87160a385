package dev.pipewright.bench.oracle;

import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.formats.oracle.CalibrationRecord;
import dev.pipewright.formats.oracle.CalibrationRecord.Constant;
import dev.pipewright.predict.transformer.CalibratedConstants;
import dev.pipewright.predict.transformer.CalibratedConstants.Errors;
import dev.pipewright.predict.transformer.CalibratedConstants.LogInterval;
import dev.pipewright.predict.transformer.MeasuredStep;
import dev.pipewright.solver.calibrate.ConformalInterval;
import dev.pipewright.solver.calibrate.ConstantsFit;
import dev.pipewright.solver.calibrate.LayoutDifferences;
import dev.pipewright.solver.calibrate.LeftOutGroups;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * The calibration of the shipped constants: one fit of all published steps, two cross-validations,
 * and the intervals that follow from their residuals.
 */
final class TransformerFit {
  private static final double INSIDE = 0.91; // a fit hides a little of its own errors
  private static final double OUTSIDE = 0.9;

  private final PublishedSteps published;
  private final PhysicalConstants constants = new PhysicalConstants();
  private final List<MeasuredStep> steps;
  private final ConstantsFit fit;
  private final double[] withoutGroup;
  private final double[] withoutNetwork;

  TransformerFit(Reference reference) {
    published = new PublishedSteps(reference);
    steps = published.steps();
    CalibratedConstants others = new CalibratedConstants(constants.fixed(), Map.of(), Map.of());
    List<MeasuredStep> noted = PublishedSteps.withNotes(reference).steps();
    fit = ConstantsFit.of(noted, constants.free(), others);
    withoutGroup = LeftOutGroups.residuals(noted, constants.free(), others, MeasuredStep::group);
    withoutNetwork =
        LeftOutGroups.residuals(noted, constants.free(), others, TransformerFit::network);
  }

  /** The fit alone, without cross-validation. */
  static ConstantsFit fit(PublishedSteps published) {
    PhysicalConstants constants = new PhysicalConstants();
    return ConstantsFit.of(
        published.steps(),
        constants.free(),
        new CalibratedConstants(constants.fixed(), Map.of(), Map.of()));
  }

  /** A network on all machines; one on its machine where tables give it no name. */
  private static String network(MeasuredStep step) {
    String name = step.group().split(" \\| ", 2)[0];
    return name.matches("h\\d+") ? step.group() : name.replaceFirst("^mpt-.*", "mpt");
  }

  PublishedSteps published() {
    return published;
  }

  PhysicalConstants constants() {
    return constants;
  }

  List<MeasuredStep> steps() {
    return steps;
  }

  ConstantsFit fitted() {
    return fit;
  }

  double[] residuals() {
    return fit.residuals();
  }

  /** Residuals of steps whose network on their machine was left out of the fit. */
  double[] withoutGroup() {
    return withoutGroup;
  }

  /** Residuals of steps whose network was left out on all machines. */
  double[] withoutNetwork() {
    return withoutNetwork;
  }

  /** Everything of {@code stack-constants.json}. */
  CalibrationRecord record() {
    String date = LocalDate.now(ZoneOffset.UTC).toString();
    List<Constant> all = new ArrayList<>();
    new TreeMap<>(fit.constants().values())
        .forEach((name, value) -> {
          boolean fixed = constants.fixed().containsKey(name);
          all.add(
              new Constant(
                  name,
                  value,
                  fixed ? 0 : fit.spread().getOrDefault(name, 0.0),
                  fixed ? 0 : fit.rows().getOrDefault(name, 0),
                  fixed
                      ? "not fitted: " + constants.reason(name)
                      : "fitted to published steps; start: " + constants.reason(name),
                  date));
        });
    return new CalibrationRecord(
        Optional.empty(),
        date,
        steps.size(),
        all,
        errors(),
        CalibratedConstants.rangesOf(steps.stream().map(MeasuredStep::run).toList()));
  }

  /** Intervals by class of runs. */
  Map<String, Errors> errors() {
    Map<String, Errors> errors = new TreeMap<>();
    classes()
        .forEach((name, indices) -> {
          LogInterval inside = ConformalInterval.of(at(residuals(), indices), INSIDE);
          LogInterval outside = ConformalInterval.of(at(withoutNetwork, indices), OUTSIDE);
          errors.put(
              name,
              new Errors(
                  inside,
                  new LogInterval(
                      Math.min(inside.low(), outside.low()),
                      Math.max(inside.high(), outside.high())),
                  LayoutDifferences.of(
                          indices.stream().map(steps::get).toList(),
                          at(withoutGroup, indices),
                          OUTSIDE)
                      .orElse(outside.high() - outside.low())));
        });
    return errors;
  }

  /** Judged steps by class of runs. */
  private Map<String, List<Integer>> classes() {
    Map<String, List<Integer>> classes = new LinkedHashMap<>();
    for (int i = 0; i < steps.size(); i++) {
      if (published.judged(i)) {
        classes.computeIfAbsent(errorClass(steps.get(i)), any -> new ArrayList<>()).add(i);
      }
    }
    return classes;
  }

  /** How far errors of two layouts of a network lie apart, by class of runs; rising. */
  Map<String, double[]> differences() {
    Map<String, double[]> differences = new TreeMap<>();
    classes()
        .forEach((name, indices) ->
            differences.put(
                name,
                LayoutDifferences.sorted(
                    indices.stream().map(steps::get).toList(), at(withoutGroup, indices))));
    return differences;
  }

  private static double[] at(double[] values, List<Integer> indices) {
    return indices.stream().mapToDouble(i -> values[i]).toArray();
  }

  /** Runs with experts, runs of two frameworks with tables of their own, and all others. */
  private static String errorClass(MeasuredStep step) {
    return switch (step.run().software().framework()) {
      case MEGATRON_DEEPSPEED -> "megatron-deepspeed";
      case MPT -> "mpt";
      default -> CalibratedConstants.rangeOf(step.run()).endsWith("moe") ? "moe" : "dense";
    };
  }

  /** Residuals of the judged steps of a family. */
  double[] of(PublishedSteps.Family family, double[] residuals) {
    return IntStream.of(published.of(family)).mapToDouble(i -> residuals[i]).toArray();
  }
}
