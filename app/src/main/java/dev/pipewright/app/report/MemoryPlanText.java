package dev.pipewright.app.report;

import dev.pipewright.app.report.Table.Cell;
import dev.pipewright.app.report.Table.Column;
import dev.pipewright.cost.StageCost;
import dev.pipewright.planner.memory.HybridPlan;
import dev.pipewright.planner.memory.HybridPlan.Stage;
import dev.pipewright.planner.memory.MemoryPlanning;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A plan of a memory planner for a terminal: what it holds, why, and what more memory would buy.
 */
public final class MemoryPlanText {
  private static final int DEVICES = 16; // columns of a list of devices

  private MemoryPlanText() {}

  /**
   * The report, each line ended by a newline.
   *
   * @param simulated seconds of the step; empty where nothing says how long layers take
   * @param columns to stay within
   */
  public static String of(
      String title,
      MemoryPlanning planning,
      Optional<Double> simulated,
      int columns,
      boolean colours) {
    Ink ink = new Ink(colours);
    StringBuilder out = new StringBuilder();
    ink.paint(out, Ink.BOLD, TextWidth.cut(title, columns));
    out.append('\n');
    HybridPlan plan = planning.candidates().get(0);
    boolean timed = !Double.isNaN(plan.stepSeconds());
    out.append(planning.planner()).append(": ").append(Words.count(plan.stages().size(), "stage"));
    if (timed) {
      out.append(", ")
          .append(plan.warmUp().schedule())
          .append(", ")
          .append(plan.microBatches())
          .append(" × ")
          .append(plan.microBatch())
          .append(" samples");
    }
    out.append("\n\n  peak memory   ")
        .append(Numbers.bytes(plan.peakBytes()))
        .append(
            planning.gap() > 0 ? ", " + Numbers.change(planning.gap()) + " above" : ", which is")
        .append(" the lower bound (")
        .append(planning.lowerBound().why())
        .append(")\n");
    if (timed) {
      out.append("  step          ")
          .append(simulated.map(step -> Units.seconds(step) + " simulated; estimate ").orElse(""))
          .append(Units.seconds(plan.stepSeconds()))
          .append(", ")
          .append(Units.significant(plan.throughput()))
          .append(" samples/s by the estimate\n");
    }
    out.append('\n');
    TerminalTable.append(out, stages(plan, timed), columns, ink);
    out.append("\n  bound by      ");
    TextWidth.wrap(out, planning.binding(), columns, DEVICES);
    planning
        .runnerUp()
        .ifPresent(other -> {
          out.append("  runner-up     ");
          String words =
              other.summary()
                  + ": "
                  + Numbers.bytes(other.peakBytes())
                  + ", "
                  + Numbers.change(other.gap());
          TextWidth.wrap(out, words, columns, DEVICES);
        });
    if (planning.candidates().size() > 1) {
      out.append("\nfrom the smallest peak to the fastest step")
          .append(planning.exhaustive() ? "\n\n" : ", as far as was searched\n\n");
      TerminalTable.append(out, front(planning.candidates()), columns, ink);
    }
    return out.toString();
  }

  static Table stages(HybridPlan plan, boolean timed) {
    List<Column> columns = new ArrayList<>();
    columns.add(Column.number("stage"));
    columns.add(Column.number("layers"));
    columns.add(Column.text("devices"));
    columns.add(Column.text("kind"));
    if (timed) {
      columns.add(Column.number("in\nflight"));
      columns.add(Column.number("forward"));
      columns.add(Column.number("backward"));
    }
    columns.add(Column.text("memory\n" + Numbers.byteUnit(plan.peakBytes())));
    List<List<Cell>> rows = new ArrayList<>();
    for (int i = 0; i < plan.stages().size(); i++) {
      rows.add(stage(i, plan, timed));
    }
    return new Table(columns, rows);
  }

  private static List<Cell> stage(int number, HybridPlan plan, boolean timed) {
    Stage stage = plan.stages().get(number);
    StageCost cost = stage.cost();
    List<Cell> row = new ArrayList<>();
    row.add(Cell.of(Integer.toString(number)));
    row.add(Cell.of(Words.range(stage.firstLayer(), stage.lastLayer())));
    row.add(Cell.of(Words.devices(stage.devices(), DEVICES)));
    row.add(Cell.of(kind(stage)));
    if (timed) {
      row.add(Cell.of(Integer.toString(stage.inFlight())));
      row.add(Cell.seconds(cost.forwardSeconds()));
      row.add(Cell.seconds(cost.backwardSeconds()));
    }
    double bytes = cost.memory().peakBytes();
    row.add(new Cell(Numbers.bytesIn(bytes, plan.peakBytes()), bytes / plan.peakBytes()));
    return row;
  }

  private static String kind(Stage stage) {
    return switch (stage.degrees().kind()) {
      case "data" -> "data ×" + stage.degrees().data();
      case "tensor" -> "tensor ×" + stage.degrees().tensor();
      case "one device" -> "–";
      default -> "data ×" + stage.degrees().data() + ", tensor ×" + stage.degrees().tensor();
    };
  }

  private static Table front(List<HybridPlan> plans) {
    List<Column> columns =
        List.of(
            Column.number("peak\nmemory"),
            Column.number("step"),
            Column.number("samples/s"),
            Column.text("schedule"),
            Column.number("micro-\nbatches"),
            Column.text("layers × degrees"));
    List<List<Cell>> rows = new ArrayList<>();
    for (HybridPlan plan : plans) {
      rows.add(
          Table.row(
              Cell.of(Numbers.bytes(plan.peakBytes())),
              Cell.seconds(plan.stepSeconds()),
              Cell.of(Units.significant(plan.throughput())),
              Cell.of(plan.warmUp().schedule()),
              Cell.of(plan.microBatches() + " × " + plan.microBatch()),
              Cell.of(TextWidth.cut(plan.summary(), 48))));
    }
    return new Table(columns, rows);
  }
}
