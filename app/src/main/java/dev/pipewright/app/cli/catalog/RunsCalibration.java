package dev.pipewright.app.cli.catalog;

import dev.pipewright.app.report.compare.StepErrorsSvg;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.OutputFolder;
import dev.pipewright.formats.file.Suggestion;
import dev.pipewright.formats.json.JsonText;
import dev.pipewright.formats.machine.MachineSheets;
import dev.pipewright.formats.oracle.CalibratedConstantsJson;
import dev.pipewright.formats.oracle.CalibrationRecord;
import dev.pipewright.formats.oracle.CalibrationRecord.Constant;
import dev.pipewright.formats.oracle.MeasuredTable;
import dev.pipewright.formats.oracle.TrainingTable;
import dev.pipewright.predict.transformer.CalibratedConstants;
import dev.pipewright.predict.transformer.MeasuredStep;
import dev.pipewright.solver.calibrate.FreeConstant;
import dev.pipewright.solver.calibrate.MachineCalibration;
import dev.pipewright.solver.calibrate.StepErrors;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;

/** What {@code calibrate} does with a table of training runs. */
final class RunsCalibration {
  private static final String CONSTANTS_FILE = "constants.json";
  private static final String RESIDUALS_FILE = "residuals.svg";

  private final Path file;
  private final String machine;
  private final List<MeasuredStep> steps;
  private final CalibrationRecord shipped = CalibratedConstantsJson.shipped();

  /**
   * Reads the runs.
   *
   * @param machine whose runs to use; where it is empty, all runs must be of one machine
   * @throws BadInputException for a table that cannot be read, or whose machine is not clear
   */
  RunsCalibration(Path file, Optional<String> machine) {
    this.file = file;
    MachineSheets sheets = MachineSheets.read();
    List<MeasuredStep> all = MeasuredTable.of(TrainingTable.read(file), sheets).steps();
    TreeSet<String> machines = new TreeSet<>();
    all.forEach(step -> machines.add(step.run().machine().name()));
    if (all.isEmpty()) {
      throw BadInputException.in(
          file, "holds no run whose settings are all known; leave the column unknown empty");
    }
    if (machine.isEmpty() && machines.size() > 1) {
      throw new BadInputException(
          "%s: holds runs of %s; choose one with --cluster"
              .formatted(file, String.join(", ", machines)));
    }
    this.machine = machine.map(name -> plain(sheets, name)).orElse(machines.first());
    if (!machines.contains(this.machine)) {
      throw new BadInputException(
          "--cluster: %s holds no runs of '%s'; %s"
              .formatted(file, this.machine, Suggestion.of(this.machine, machines)));
    }
    this.steps =
        all.stream().filter(step -> step.run().machine().name().equals(this.machine)).toList();
  }

  /** The name of a machine without what stands for its usual network. */
  private static String plain(MachineSheets sheets, String name) {
    try {
      return sheets.find(name).name();
    } catch (IllegalArgumentException e) {
      throw new BadInputException("--cluster: " + e.getMessage());
    }
  }

  /** Fits, prints, and writes where a folder is given; returns the exit status. */
  int answer(CommandSpec spec, boolean json, @Nullable Path out) {
    try (OutputFolder to = OutputFolder.of(out, CONSTANTS_FILE, RESIDUALS_FILE)) {
      MachineCalibration found = fitted();
      Map<String, Object> answer = answer(found);
      spec.commandLine()
          .getOut()
          .print(
              json
                  ? JsonText.of(answer)
                  : RunsFitText.of(file.toString(), machine, steps, found, shipped.calibrated()));
      if (StepErrors.of(found.leftOut()).mean() >= StepErrors.of(found.before()).mean()) {
        spec.commandLine()
            .getErr()
            .println(
                "pipewright: networks that were left out are foreseen no better than with the"
                    + " built-in constants; keep those, or measure more networks");
      }
      if (to != null) {
        to.write(CONSTANTS_FILE, CalibratedConstantsJson.text(record(found), fit(answer, found)));
        to.write(RESIDUALS_FILE, picture(found));
        spec.commandLine()
            .getErr()
            .println("wrote " + CONSTANTS_FILE + ", " + RESIDUALS_FILE + " to " + to);
      }
      return 0;
    }
  }

  private MachineCalibration fitted() {
    try {
      return MachineCalibration.of(steps, shipped.calibrated());
    } catch (IllegalArgumentException e) {
      throw new BadInputException("%s: %s".formatted(file, e.getMessage()));
    }
  }

  private Map<String, Object> answer(MachineCalibration found) {
    CalibratedConstants before = shipped.calibrated();
    List<Map<String, Object>> constants = new ArrayList<>();
    for (FreeConstant each : found.free()) {
      Map<String, Object> constant = JsonText.pair("name", each.name(), "built_in", each.start());
      constant.put("fitted", found.fit().constants().values().get(each.name()));
      constant.put("spread_log", found.fit().spread().get(each.name()));
      constant.put("rows", found.fit().rows().get(each.name()));
      constants.add(constant);
    }
    Map<String, Object> errors =
        JsonText.pair(
            "built_in", errors(found.before()), "fitted", errors(found.fit().residuals()));
    errors.put("left_out", errors(found.leftOut()));
    Map<String, Object> answer = JsonText.pair("source", file.toString(), "machine", machine);
    answer.put("runs", steps.size());
    answer.put("networks", steps.stream().map(MeasuredStep::group).distinct().count());
    answer.put("built_in_constants", before.values().size());
    answer.put("constants", constants);
    answer.put("errors", errors);
    return answer;
  }

  private static Map<String, Object> errors(double[] residuals) {
    StepErrors errors = StepErrors.of(residuals);
    Map<String, Object> object = JsonText.pair("mean", errors.mean(), "median", errors.median());
    object.put("ninetieth_percentile", errors.ninetieth());
    object.put("worst", errors.worst());
    object.put("bias", errors.bias());
    return object;
  }

  /** The answer with every run, for the file. */
  private Map<String, Object> fit(Map<String, Object> answer, MachineCalibration found) {
    Map<String, Object> fit = new LinkedHashMap<>(answer);
    fit.put(
        "residuals",
        IntStream.range(0, steps.size())
            .mapToObj(i -> {
              MeasuredStep step = steps.get(i);
              Map<String, Object> run =
                  JsonText.pair("id", step.id(), "measured_s", step.seconds());
              run.put("built_in_s", step.seconds() * Math.exp(found.before()[i]));
              run.put("fitted_s", step.seconds() * Math.exp(found.fit().residuals()[i]));
              run.put("left_out_s", step.seconds() * Math.exp(found.leftOut()[i]));
              return run;
            })
            .toList());
    return fit;
  }

  private CalibrationRecord record(MachineCalibration found) {
    String date = LocalDate.now(ZoneOffset.UTC).toString();
    CalibratedConstants constants = found.calibrated(steps);
    List<Constant> all = new ArrayList<>();
    for (Constant each : shipped.constants()) {
      boolean moved = found.free().stream().anyMatch(free -> free.name().equals(each.name()));
      all.add(
          moved
              ? new Constant(
                  each.name(),
                  constants.values().getOrDefault(each.name(), each.value()),
                  found.fit().spread().getOrDefault(each.name(), 0.0),
                  found.fit().rows().getOrDefault(each.name(), 0),
                  "fitted to " + file + ", runs on " + machine,
                  date)
              : each);
    }
    return new CalibrationRecord(
        Optional.of(machine), date, steps.size(), all, constants.errors(), constants.ranges());
  }

  private String picture(MachineCalibration found) {
    double[] seconds = steps.stream().mapToDouble(MeasuredStep::seconds).toArray();
    return StepErrorsSvg.of(
        "%s, %d runs on %s".formatted(file.getFileName(), steps.size(), machine),
        seconds,
        List.of(
            new StepErrorsSvg.Series("built-in constants", found.before()),
            new StepErrorsSvg.Series("network left out of the fit", found.leftOut()),
            new StepErrorsSvg.Series("fitted", found.fit().residuals())));
  }
}
