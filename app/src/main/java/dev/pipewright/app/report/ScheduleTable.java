package dev.pipewright.app.report;

import dev.pipewright.app.report.Table.Cell;
import dev.pipewright.app.report.Table.Column;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.List;

/** The figures of schedules beside each other. */
final class ScheduleTable {
  private ScheduleTable() {}

  /** A row for each, compared with the first. */
  static Table of(List<ScheduleRun> runs) {
    boolean periodic = runs.stream().anyMatch(run -> !run.period().isEmpty());
    List<Column> columns =
        new ArrayList<>(
            List.of(
                Column.text("schedule"),
                Column.number("makespan"),
                Column.number("against\n" + runs.get(0).name()),
                Column.number("idle of\nmakespan"),
                Column.number("idle of\nlongest span"),
                Column.number("peak\nactivations")));
    if (periodic) {
      columns.add(Column.number("period of a\nmicro-batch"));
      columns.add(Column.number("idle of\nperiod"));
    }
    List<List<Cell>> rows = new ArrayList<>();
    for (ScheduleRun run : runs) {
      List<Cell> row =
          new ArrayList<>(
              Table.row(
                  Cell.of(run.name()),
                  Cell.of(ScheduleText.number(run.makespan())),
                  Cell.of(rows.isEmpty() ? "–" : against(run, runs.get(0))),
                  Cell.of(Units.percent(run.figures().idleShare())),
                  Cell.of(Units.percent(run.figures().spanIdleShare())),
                  Cell.of(peak(run))));
      if (periodic) {
        row.add(Cell.of(run.figures().period().map(ScheduleTable::each).orElse("–")));
        row.add(
            Cell.of(
                run.figures()
                    .period()
                    .map(period -> Units.percent(period.idleShare()))
                    .orElse("–")));
      }
      rows.add(row);
    }
    return new Table(columns, rows);
  }

  private static String each(ScheduleRun.Period period) {
    return ScheduleText.number(period.time() / period.microBatches());
  }

  private static String against(ScheduleRun run, ScheduleRun first) {
    return first.makespan() == 0 ? "–" : Numbers.change(run.makespan() / first.makespan() - 1);
  }

  private static String peak(ScheduleRun run) {
    return ScheduleText.activations(run.peak()) + (run.exceedsCap() ? " !" : "");
  }

  /** What marks and counts mean. */
  static String note(List<ScheduleRun> runs) {
    boolean exceeded = runs.stream().anyMatch(ScheduleRun::exceedsCap);
    ScheduleRun first = runs.get(0);
    String mark =
        first.memoryCap().isEqual() ? "; ! exceeds the cap of " : "; ! a rank exceeds its cap of ";
    return "peak activations: of the fullest rank, in micro-batches of a stage"
        + (exceeded ? mark + first.cap() : "");
  }
}
