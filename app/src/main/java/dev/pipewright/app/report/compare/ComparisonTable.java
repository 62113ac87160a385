package dev.pipewright.app.report.compare;

import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.app.report.text.Table;
import dev.pipewright.app.report.text.Table.Cell;
import dev.pipewright.app.report.text.Table.Column;
import dev.pipewright.compare.Comparison;
import dev.pipewright.compare.Comparison.Item;
import dev.pipewright.compare.Comparison.Scope;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.List;

/** The items of a comparison next to each other. */
final class ComparisonTable {
  private static final String NONE = "–";

  private ComparisonTable() {}

  /** Those of one scope; the first column is headed by {@code what}. */
  static Table of(Comparison comparison, Scope scope, String what) {
    List<Column> columns =
        List.of(
            Column.text(what),
            Column.number("measured"),
            Column.number("predicted"),
            Column.number("off by"),
            Column.number("simulated"),
            Column.number("off by"));
    List<List<Cell>> rows = new ArrayList<>();
    for (Item item : comparison.items()) {
      if (item.scope() == scope) {
        rows.add(
            Table.row(
                Cell.of(item.name()),
                Cell.of(value(item, item.measured())),
                Cell.of(value(item, item.predicted())),
                Cell.of(error(item, item.predicted(), item.predictedError())),
                Cell.of(value(item, item.simulated())),
                Cell.of(error(item, item.simulated(), item.simulatedError()))));
      }
    }
    return new Table(columns, rows);
  }

  /** What all of it comes to: how far the step is off. */
  static String verdict(Comparison comparison) {
    Item step = comparison.step();
    return "The step took %s; the prediction is off by %s, the simulation by %s."
        .formatted(
            value(step, step.measured()),
            error(step, step.predicted(), step.predictedError()),
            error(step, step.simulated(), step.simulatedError()));
  }

  static String heading(Scope scope) {
    return switch (scope) {
      case STEP -> "of the step";
      case STAGE -> "computing of a stage in a step";
      case OP -> "mean of an op";
      case EXCHANGE -> "exchange";
      case MEMORY -> "peak memory";
    };
  }

  private static String value(Item item, double value) {
    if (Double.isNaN(value)) {
      return NONE;
    }
    if (item.isShare()) {
      return Units.percent(value);
    }
    return item.scope() == Scope.MEMORY ? Numbers.bytes(value) : Units.seconds(value);
  }

  /** Of shares the points that lie between them. */
  private static String error(Item item, double value, double error) {
    if (item.isShare()) {
      return "%+.1f points".formatted(100 * (value - item.measured())).replace('-', '−');
    }
    return Double.isFinite(error) ? Numbers.change(error) : NONE;
  }
}
