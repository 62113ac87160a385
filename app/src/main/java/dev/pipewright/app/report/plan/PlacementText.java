package dev.pipewright.app.report.plan;

import dev.pipewright.app.report.text.Ink;
import dev.pipewright.app.report.text.Table;
import dev.pipewright.app.report.text.Table.Cell;
import dev.pipewright.app.report.text.Table.Column;
import dev.pipewright.app.report.text.TerminalTable;
import dev.pipewright.app.report.text.TextWidth;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.planner.placement.OperatorGraph;
import dev.pipewright.planner.placement.OperatorPlacement.Device;
import dev.pipewright.planner.placement.PlacementResult.Alternative;
import dev.pipewright.planner.placement.PlacementResult.Placed;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A placement of operators for a terminal: which device has what, how busy it is, and why. */
public final class PlacementText {
  private static final int LABEL = 16;
  private static final int NAMES = 30; // columns of the names of operators

  private final OperatorGraph graph;
  private final Placed placed;
  private final int width;
  private final Ink ink;
  private final StringBuilder out = new StringBuilder();

  private PlacementText(OperatorGraph graph, Placed placed, int width, boolean colours) {
    this.graph = graph;
    this.placed = placed;
    this.width = width;
    this.ink = new Ink(colours);
  }

  /** The report, each line ended by a newline; loads are in the time unit of the workload. */
  public static String of(
      OperatorGraph graph, Placed placed, double planningSeconds, int width, boolean colours) {
    return new PlacementText(graph, placed, width, colours).text(planningSeconds);
  }

  private String text(double planningSeconds) {
    OperatorGraph.Devices devices = graph.devices();
    TextWidth.heading(out, ink, graph.name(), width);
    String on =
        "%s on at most %s with %s each and %s"
            .formatted(
                Words.count(graph.size(), "operator"),
                Words.count(devices.accelerators(), "accelerator"),
                Units.binary(devices.acceleratorBytes(), "B"),
                Words.count(devices.processors(), "processor"));
    out.append("  ");
    TextWidth.wrap(out, on, width, 2);
    out.append('\n');
    line(
        "largest load",
        number(placed.best().maxLoad()) + " in the workload's unit of time, " + certainty());
    boolean reached = number(placed.bound().value()).equals(number(placed.best().maxLoad()));
    line(
        "lower bound",
        (reached ? "the same" : number(placed.bound().value())) + ": " + placed.bound().why());
    out.append('\n');
    TerminalTable.append(out, devices(), width, ink);
    out.append('\n');
    line("bound by", placed.binding());
    for (Alternative other : placed.alternatives()) {
      double more = other.maxLoad() / placed.best().maxLoad() - 1;
      String than = Double.isFinite(more) ? ", " + Units.percent(more) + " more" : "";
      boolean same = number(other.maxLoad()).equals(number(placed.best().maxLoad()));
      String load = same ? "the same load" : number(other.maxLoad()) + than;
      line("instead", other.kind() + ": " + load);
    }
    line("planned", "in " + Units.seconds(planningSeconds) + "; searched " + placed.searched());
    return out.toString();
  }

  private String certainty() {
    return placed.proven()
        ? "the optimum"
        : "at most " + Units.percent(placed.gap()) + " above the optimum";
  }

  private Table devices() {
    List<Column> columns =
        List.of(
            Column.number("device"),
            Column.text("kind"),
            Column.number("operators"),
            Column.text("from … to"),
            Column.number("load"),
            Column.number("computing"),
            Column.number("transfers"),
            Column.number("memory"));
    List<List<Cell>> rows = new ArrayList<>();
    for (int i = 0; i < placed.best().devices().size(); i++) {
      Device device = placed.best().devices().get(i);
      rows.add(
          Table.row(
              Cell.of(Integer.toString(i)),
              Cell.of(device.processor() ? "processor" : "accelerator"),
              Cell.of(Integer.toString(device.operators().size())),
              Cell.of(TextWidth.cut(names(device), NAMES)),
              Cell.of(number(device.load())),
              Cell.of(number(device.compute())),
              Cell.of(device.processor() ? "–" : number(device.transfers())),
              Cell.of(Units.binary(device.bytes(), "B"))));
    }
    return new Table(columns, rows);
  }

  private String names(Device device) {
    List<Integer> operators = device.operators();
    String first = graph.operator(operators.get(0)).name();
    String last = graph.operator(operators.get(operators.size() - 1)).name();
    return operators.size() == 1 ? first : first + " … " + last;
  }

  private void line(String label, String text) {
    out.append("  ");
    TextWidth.pad(out, label, LABEL - 2, false);
    TextWidth.wrap(out, text, width, LABEL);
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.6g", value);
  }
}
