package dev.pipewright.app.report;

import dev.pipewright.app.report.Table.Cell;
import dev.pipewright.app.report.Table.Column;
import dev.pipewright.planner.pipedream.TwoBufferPlanning;
import dev.pipewright.planner.pipedream.TwoBufferPlanning.Candidate;
import dev.pipewright.planner.pipedream.TwoBufferPlanning.Stage;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.List;

/** A plan of PipeDream-2BW's planner for a terminal: what it is, why, and how good. */
public final class TwoBufferText {
  private static final int DEVICES = 24;

  /**
   * What a report says beside the planning itself.
   *
   * @param title what is planned for what
   * @param provenance where the model's times come from
   * @param planningSeconds how long the search took
   */
  public record Heading(String title, String provenance, double planningSeconds) {}

  private final StringBuilder out = new StringBuilder();
  private final int width;
  private final Ink ink;

  private TwoBufferText(int width, Ink ink) {
    this.width = width;
    this.ink = ink;
  }

  /** The report of a planning that found something, each line ended by a newline. */
  public static String of(
      TwoBufferPlanning planning,
      Heading heading,
      SteadyLines steady,
      double capacityBytes,
      int width,
      boolean colours) {
    return new TwoBufferText(width, new Ink(colours))
        .text(planning, planning.best().orElseThrow(), heading, steady, capacityBytes);
  }

  private String text(
      TwoBufferPlanning planning,
      Candidate best,
      Heading heading,
      SteadyLines steady,
      double capacityBytes) {
    ink.paint(out, Ink.BOLD, TextWidth.cut(heading.title, width));
    out.append("\n  schedule pipedream-2bw: ").append(words(best)).append("\n\n");
    steady
        .of("update", best.seconds(), "PipeDream-2BW's planner")
        .forEach(one -> line(one.words(), one.value()));
    line(
        "lower bound",
        Units.seconds(planning.lowerBound().seconds())
            + " of the objective: "
            + planning.lowerBound().why());
    out.append('\n');
    TerminalTable.append(out, stages(best, capacityBytes), width, ink);
    out.append('\n');
    line("bound by", best.binding());
    planning
        .runnerUp()
        .ifPresent(rival ->
            line(
                "runner-up",
                words(rival)
                    + ": "
                    + Units.seconds(rival.seconds())
                    + " by the same formula, "
                    + Numbers.change(rival.seconds() / best.seconds() - 1)));
    out.append('\n');
    line(
        "planned",
        "in "
            + Units.seconds(heading.planningSeconds)
            + " by pipedream-2bw; "
            + (planning.exact() ? "exact" : "stopped")
            + ", "
            + Words.count(planning.candidates().size(), "configuration")
            + " that fit");
    line("numbers", heading.provenance);
    return out.toString();
  }

  /** {@code 2 copies of 4 stages, 8 micro-batches of 16 each}. */
  private static String words(Candidate plan) {
    return Words.count(plan.depth(), "stage")
        + " × "
        + Words.count(plan.width(), "replica")
        + ", "
        + plan.microBatches()
        + (plan.microBatches() == 1 ? " micro-batch of " : " micro-batches of ")
        + plan.microBatch()
        + " for each update"
        + (plan.recompute() ? ", recomputing" : "");
  }

  private static Table stages(Candidate best, double capacityBytes) {
    List<Column> columns =
        List.of(
            Column.number("stage"),
            Column.number("layers"),
            Column.text("devices"),
            Column.number("in\nflight"),
            Column.number("compute"),
            Column.number("transfers"),
            Column.number("sum of\ngradients"),
            Column.number("memory"));
    List<List<Cell>> rows = new ArrayList<>();
    for (Stage stage : best.stages()) {
      rows.add(
          Table.row(
              Cell.of(Integer.toString(rows.size())),
              Cell.of(Words.range(stage.firstLayer(), stage.lastLayer())),
              Cell.of(Words.devices(stage.devices(), DEVICES)),
              Cell.of(Integer.toString(stage.inFlight())),
              Cell.seconds(stage.computeSeconds()),
              Cell.seconds(stage.transferSeconds()),
              Cell.seconds(stage.exchangeSeconds()),
              Cell.of(Units.percent(stage.memoryBytes() / capacityBytes))));
    }
    return new Table(columns, rows);
  }

  private void line(String words, String value) {
    FigureLine.append(out, ink, width, words, value);
  }
}
