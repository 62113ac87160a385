package dev.pipewright.server.page;

import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.app.report.text.Table;
import dev.pipewright.app.report.text.Table.Cell;
import dev.pipewright.app.report.text.Table.Column;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.formats.json.Node;
import dev.pipewright.server.study.Members;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.List;

/** The tables of an answer. */
final class AnswerTables {
  /** Categories of memory as answers name them. */
  private static final List<String> CATEGORIES =
      List.of("parameters", "gradients", "optimizer", "activations", "workspace", "buffers");

  private static final int DEVICES = 24; // columns of a list of devices
  private static final Table EMPTY = new Table(List.of(), List.of());

  private AnswerTables() {}

  static Table stages(Members answer) {
    List<Node> stages = answer.member("plan").list("stages");
    if (stages.isEmpty() || !new Members(stages.getFirst().members()).has("forward_s")) {
      return EMPTY;
    }
    List<Column> columns =
        List.of(
            Column.number("stage"),
            Column.number("layers"),
            Column.text("devices"),
            Column.text("recompute"),
            Column.number("in flight"),
            Column.number("forward"),
            Column.number("backward"),
            Column.number("send"),
            Column.number("all-reduce"),
            Column.number("memory"));
    List<List<Cell>> rows = new ArrayList<>();
    for (Node each : stages) {
      Members stage = new Members(each.members());
      List<Node> layers = stage.list("layers");
      rows.add(
          Table.row(
              Cell.of(Integer.toString(rows.size())),
              Cell.of(Words.range(whole(layers.getFirst()), whole(layers.getLast()))),
              Cell.of(
                  Words.devices(
                      stage.list("devices").stream().map(AnswerTables::whole).toList(), DEVICES)),
              Cell.of(stage.has("recompute") ? stage.text("recompute") : "–"),
              Cell.of(Units.plain(stage.number("in_flight"))),
              Cell.seconds(stage.number("forward_s")),
              Cell.seconds(stage.number("backward_s")),
              Cell.seconds(stage.number("send_s")),
              Cell.seconds(stage.number("allreduce_s")),
              Cell.of(Numbers.bytes(stage.number("memory_bytes")))));
    }
    return new Table(columns, rows);
  }

  static Table memory(Members answer) {
    List<Members> stages =
        answer.member("plan").list("stages").stream()
            .map(stage -> new Members(stage.members()).member("memory"))
            .toList();
    if (stages.isEmpty() || stages.contains(Members.NONE)) {
      return EMPTY;
    }
    List<Column> columns = new ArrayList<>(List.of(Column.number("stage")));
    CATEGORIES.forEach(name -> columns.add(Column.number(name)));
    columns.add(Column.number("all"));
    List<List<Cell>> rows = new ArrayList<>();
    for (Members stage : stages) {
      List<Cell> row = new ArrayList<>(List.of(Cell.of(Integer.toString(rows.size()))));
      double sum = 0;
      for (String name : CATEGORIES) {
        double bytes = stage.number(name + "_bytes");
        sum += bytes;
        row.add(Cell.of(bytes == 0 ? "–" : Numbers.bytes(bytes)));
      }
      row.add(Cell.of(Numbers.bytes(sum)));
      rows.add(row);
    }
    return new Table(columns, rows);
  }

  /** The plans of a front. */
  static Table front(Members answer) {
    return plans(answer.list("front"), "step_s");
  }

  /** The plans that the search compared last. */
  static Table candidates(Members answer) {
    return plans(answer.list("candidates"), "simulated_s");
  }

  private static Table plans(List<Node> plans, String seconds) {
    List<Column> columns =
        List.of(
            Column.number("plan"),
            Column.number("step"),
            Column.number("peak memory"),
            Column.text("kind"),
            Column.text("schedule"),
            Column.number("stages"),
            Column.number("data"),
            Column.number("tensor"),
            Column.number("micro-batches"));
    List<List<Cell>> rows = new ArrayList<>();
    for (Node each : plans) {
      Members plan = new Members(each.members());
      double step = plan.number(plan.has(seconds) ? seconds : "estimate_s");
      if (Double.isNaN(step)) {
        continue;
      }
      Members decided = plan.has("plan") ? plan.member("plan") : plan;
      PlanDegrees degrees = PlanDegrees.of(decided);
      rows.add(
          Table.row(
              Cell.of(Integer.toString(rows.size() + 1)),
              Cell.of(Units.seconds(step)),
              Cell.of(Numbers.bytes(plan.number("peak_bytes"))),
              Cell.of(plan.text("kind")),
              Cell.of(decided.text("schedule")),
              Cell.of(degrees.stages()),
              Cell.of(degrees.data()),
              Cell.of(degrees.tensor()),
              Cell.of(
                  Units.plain(decided.number("micro_batches"))
                      + " × "
                      + Units.plain(decided.number("micro_batch")))));
    }
    return rows.isEmpty() ? EMPTY : new Table(columns, rows);
  }

  private static int whole(Node number) {
    return (int) number.finite();
  }
}
