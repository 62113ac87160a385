package dev.pipewright.app.cli.catalog;

import dev.pipewright.app.cli.terminal.Terminal;
import dev.pipewright.app.report.text.WordTable;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.predict.transformer.CalibratedConstants;
import dev.pipewright.predict.transformer.MeasuredStep;
import dev.pipewright.solver.calibrate.FreeConstant;
import dev.pipewright.solver.calibrate.MachineCalibration;
import dev.pipewright.solver.calibrate.StepErrors;
import dev.pipewright.units.Units;
import java.util.List;
import java.util.Locale;

/** Constants that were fitted to training runs, and their errors, as tables for a terminal. */
final class RunsFitText {
  private RunsFitText() {}

  static String of(
      String source,
      String machine,
      List<MeasuredStep> steps,
      MachineCalibration found,
      CalibratedConstants before) {
    long networks = steps.stream().map(MeasuredStep::group).distinct().count();
    String heading =
        Terminal.sentence(
            "%s: %s of %s on %s; %d of %d constants moved"
                .formatted(
                    source,
                    Words.count(steps.size(), "run"),
                    Words.count(networks, "network"),
                    machine,
                    found.free().size(),
                    before.values().size()));
    return heading
        + "\n"
        + errors(found).in(Terminal.columns(), Terminal.colours())
        + "\n"
        + constants(found).in(Terminal.columns(), Terminal.colours());
  }

  private static WordTable errors(MachineCalibration found) {
    WordTable table =
        new WordTable()
            .text("error of predicted steps")
            .numbers("mean", "median", "90th\npercentile", "worst", "bias");
    row(table, "built-in constants", found.before());
    row(table, "fitted constants", found.fit().residuals());
    row(table, "network left out of the fit", found.leftOut());
    return table;
  }

  private static void row(WordTable table, String name, double[] residuals) {
    StepErrors errors = StepErrors.of(residuals);
    table.row(
        name,
        Units.percent(errors.mean()),
        Units.percent(errors.median()),
        Units.percent(errors.ninetieth()),
        Units.percent(errors.worst()),
        String.format(Locale.ROOT, "%+.1f %%", 100 * errors.bias()));
  }

  private static WordTable constants(MachineCalibration found) {
    WordTable table =
        new WordTable().text("constant").numbers("built-in", "fitted", "change", "spread", "runs");
    for (FreeConstant each : found.free()) {
      double value = found.fit().constants().values().getOrDefault(each.name(), each.start());
      table.row(
          each.name(),
          number(each.start()),
          number(value),
          String.format(Locale.ROOT, "%+.0f %%", 100 * (value / each.start() - 1)),
          Units.percent(found.fit().spread().getOrDefault(each.name(), 0.0)),
          found.fit().rows().getOrDefault(each.name(), 0));
    }
    return table;
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.3g", value);
  }
}
