package dev.pipewright.app.report;

import dev.pipewright.app.report.Table.Cell;
import dev.pipewright.app.report.Table.Column;
import dev.pipewright.cost.StageCost;
import dev.pipewright.planner.memory.HybridPlan;
import dev.pipewright.planner.memory.HybridPlan.Stage;
import dev.pipewright.planner.memory.MemoryPlanning;
import dev.pipewright.planner.memory.MemoryPlanning.RunnerUp;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A plan of a memory planner for a terminal: what it holds, why, and what more memory would buy.
 */
public final class MemoryPlanText {
  private static final int DEVICES = 16; // columns of a list of devices
  private static final int OTHER_COLUMNS = 56; // than the plans, in the table of all

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
    TextWidth.heading(out, ink, title, columns);
    HybridPlan plan = planning.candidates().get(0);
    boolean timed = !Double.isNaN(plan.stepSeconds());
    out.append("  ");
    TextWidth.wrap(out, shape(planning.planner(), plan, timed), columns, 4);
    out.append('\n');
    FigureLine.append(
        out,
        ink,
        columns,
        "peak memory",
        Numbers.bytes(plan.peakBytes())
            + (planning.gap() > 0
                ? ", " + Units.percent(planning.gap()) + " above the lower bound"
                : ", which is the lower bound")
            + " ("
            + planning.lowerBound().why()
            + ")");
    if (timed) {
      String estimate = Units.seconds(plan.stepSeconds()) + " by the estimate";
      FigureLine.append(
          out,
          ink,
          columns,
          "step",
          simulated
              .map(step ->
                  Units.seconds(step)
                      + " simulated; "
                      + Words.against("estimate", plan.stepSeconds(), step))
              .orElse(estimate));
    }
    out.append('\n');
    TerminalTable.append(out, stages(plan, timed), columns, ink);
    out.append('\n');
    FigureLine.append(out, ink, columns, "bound by", planning.binding());
    planning.runnerUp().ifPresent(other -> runnerUp(out, ink, columns, other));
    if (planning.candidates().size() > 1) {
      out.append("\nfrom the smallest peak to the fastest step")
          .append(planning.exhaustive() ? "\n\n" : ", as far as was searched\n\n");
      TerminalTable.append(out, front(planning.candidates(), columns), columns, ink);
    }
    String letters = letters(planning);
    if (!letters.isEmpty()) {
      out.append("  ");
      TextWidth.wrap(out, letters, columns, 2);
    }
    return out.toString();
  }

  private static void runnerUp(StringBuilder out, Ink ink, int columns, RunnerUp other) {
    String more = Numbers.change(other.gap());
    String peak = Numbers.bytes(other.peakBytes());
    FigureLine.append(
        out,
        ink,
        columns,
        "runner-up",
        other.summary() + ": " + peak + (more.equals(Numbers.change(0)) ? "" : ", " + more));
  }

  private static String shape(String planner, HybridPlan plan, boolean timed) {
    String stages = planner + ": " + Words.count(plan.stages().size(), "stage");
    return timed
        ? stages
            + ", %s of %d, schedule %s"
                .formatted(
                    Words.count(plan.microBatches(), "micro-batch"),
                    plan.microBatch(),
                    plan.policy().schedule())
        : stages;
  }

  /** What the letters of shortened plans mean; empty where none is shown. */
  private static String letters(MemoryPlanning planning) {
    String shown =
        planning.runnerUp().map(RunnerUp::summary).orElse("")
            + (planning.candidates().size() > 1
                ? planning.candidates().stream().map(HybridPlan::summary).toList()
                : "");
    List<String> meanings = new ArrayList<>();
    if (shown.matches("(?s).*]×d[0-9].*")) {
      meanings.add("d: data-parallel replicas of a stage");
    }
    if (shown.matches("(?s).*]×(d[0-9]+)?t[0-9].*")) {
      meanings.add("t: devices that divide each tensor of a stage");
    }
    return String.join("; ", meanings);
  }

  static Table stages(HybridPlan plan, boolean timed) {
    boolean shared = plan.stages().stream().anyMatch(stage -> stage.devices().size() > 1);
    List<Column> columns = StageRows.columns();
    if (shared) {
      columns.add(Column.text("kind"));
    }
    if (timed) {
      columns.add(Column.number("in\nflight"));
      columns.add(Column.number("forward"));
      columns.add(Column.number("backward"));
    }
    columns.add(Column.text("memory\n" + Numbers.byteUnit(plan.peakBytes())));
    List<StageRows.Stage> stages =
        plan.stages().stream().map(stage -> stage(stage, plan, shared, timed)).toList();
    return new Table(columns, StageRows.of(stages, DEVICES));
  }

  private static StageRows.Stage stage(
      Stage stage, HybridPlan plan, boolean shared, boolean timed) {
    StageCost cost = stage.cost();
    List<String> alike = new ArrayList<>(List.of(kind(stage), stage.recompute().word()));
    List<Cell> rest = new ArrayList<>();
    if (shared) {
      rest.add(Cell.of(kind(stage)));
    }
    if (timed) {
      rest.add(Cell.of(Integer.toString(stage.inFlight())));
      rest.add(Cell.seconds(cost.forwardSeconds()));
      rest.add(Cell.seconds(cost.backwardSeconds()));
      alike.add(Units.seconds(cost.forwardSeconds()));
      alike.add(Units.seconds(cost.backwardSeconds()));
    }
    double bytes = cost.memory().peakBytes();
    rest.add(new Cell(Numbers.bytesIn(bytes, plan.peakBytes()), bytes / plan.peakBytes()));
    return new StageRows.Stage(stage.firstLayer(), stage.lastLayer(), stage.devices(), alike, rest);
  }

  private static String kind(Stage stage) {
    return switch (stage.degrees().kind()) {
      case "data" -> "data ×" + stage.degrees().data();
      case "tensor" -> "tensor ×" + stage.degrees().tensor();
      case "one device" -> "–";
      default -> "data ×" + stage.degrees().data() + ", tensor ×" + stage.degrees().tensor();
    };
  }

  private static Table front(List<HybridPlan> plans, int width) {
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
              Cell.of(plan.policy().schedule()),
              Cell.of(plan.microBatches() + " × " + plan.microBatch()),
              Cell.of(TextWidth.cut(plan.summary(), 2 * Math.max(30, width - OTHER_COLUMNS)))));
    }
    return new Table(columns, rows);
  }
}
