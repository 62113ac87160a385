package dev.pipewright.app.report.timeline;

import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.app.report.text.Table;
import dev.pipewright.app.report.text.Table.Cell;
import dev.pipewright.app.report.text.Table.Column;
import dev.pipewright.trace.Timeline;
import dev.pipewright.trace.Timeline.Memory;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.List;

/** The figures of runs next to each other. */
public final class RunTable {
  private RunTable() {}

  /** A row for each, compared with the first. */
  public static Table of(Runs runs) {
    Shown first = runs.first();
    boolean periodic = runs.all().stream().anyMatch(run -> run.period().isPresent());
    List<Column> columns =
        new ArrayList<>(
            List.of(
                Column.text(runs.clock() == TimeNotation.UNITS ? "schedule" : "run"),
                Column.number("makespan"),
                Column.number("against\n" + first.name()),
                Column.number("idle of\nmakespan"),
                Column.number("idle of\nlongest span"),
                Column.number(first.inBytes() ? "peak\nmemory" : "peak\nactivations")));
    boolean copied = runs.all().stream().anyMatch(run -> run.parameterCopies() != 1);
    if (copied) {
      columns.add(Column.number("parameter\ncopies"));
    }
    if (periodic) {
      columns.add(Column.number("period of a\nmicro-batch"));
      columns.add(Column.number("idle of\nperiod"));
    }
    List<List<Cell>> rows = new ArrayList<>();
    for (Shown run : runs.all()) {
      Timeline timeline = run.timeline();
      List<Cell> row =
          new ArrayList<>(
              Table.row(
                  Cell.of(run.name()),
                  Cell.of(runs.clock().duration(run.makespan())),
                  Cell.of(rows.isEmpty() ? "–" : against(run, first)),
                  Cell.of(Units.percent(timeline.idleShare())),
                  Cell.of(Units.percent(timeline.spanIdleShare())),
                  Cell.of(run.amount(run.peak()) + (run.exceedsCap() ? " !" : ""))));
      if (copied) {
        row.add(Cell.of(Numbers.plain(run.parameterCopies())));
      }
      if (periodic) {
        row.add(Cell.of(run.period().map(RunTable::each).orElse("–")));
        row.add(Cell.of(run.period().map(each -> Units.percent(each.idleShare())).orElse("–")));
      }
      rows.add(row);
    }
    return new Table(columns, rows);
  }

  private static String each(Shown.Period period) {
    return Numbers.plain(period.time() / period.microBatches());
  }

  private static String against(Shown run, Shown first) {
    return first.makespan() == 0 ? "–" : Numbers.change(run.makespan() / first.makespan() - 1);
  }

  /** What the span is. */
  static final String SPAN =
      "idle of longest span: of the busiest rank, in the longest time from a rank's first op to its"
          + " last";

  /** What marks and counts mean. */
  static String note(Runs runs) {
    boolean exceeded = runs.all().stream().anyMatch(Shown::exceedsCap);
    Shown first = runs.first();
    String mark = first.hasOneCap() ? "; ! exceeds the cap of " : "; ! a rank exceeds its cap of ";
    return (first.inBytes()
            ? "peak memory: of the fullest rank"
            : "peak activations: of the fullest rank, in micro-batches of a stage")
        + (exceeded ? mark + first.cap() : "");
  }

  /** A row for each rank, with the values of every run. */
  static Table ranks(Runs runs) {
    List<Column> columns = new ArrayList<>(List.of(Column.number("rank")));
    for (Shown run : runs.all()) {
      String name = runs.areSeveral() ? run.name() + ": " : "";
      columns.add(Column.number(name + "idle"));
      columns.add(Column.number(name + "peak activations"));
    }
    List<List<Cell>> rows = new ArrayList<>();
    for (int rank = 0; rank < runs.ranks(); rank++) {
      List<Cell> row = new ArrayList<>(List.of(Cell.of(Integer.toString(rank))));
      for (Shown run : runs.all()) {
        List<Memory> memory = run.timeline().memory();
        boolean there = rank < memory.size();
        row.add(Cell.of(there ? Units.percent(run.timeline().idleShare(rank)) : "–"));
        row.add(Cell.of(there ? run.amount(memory.get(rank).peak()) : "–"));
      }
      rows.add(row);
    }
    return new Table(columns, rows);
  }
}
