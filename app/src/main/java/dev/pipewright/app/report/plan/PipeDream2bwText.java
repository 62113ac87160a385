package dev.pipewright.app.report.plan;

import dev.pipewright.app.report.text.FigureLine;
import dev.pipewright.app.report.text.Ink;
import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.app.report.text.Table;
import dev.pipewright.app.report.text.Table.Cell;
import dev.pipewright.app.report.text.Table.Column;
import dev.pipewright.app.report.text.TerminalTable;
import dev.pipewright.app.report.text.TextWidth;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.planner.pipedream.PipeDream2bwPlanning;
import dev.pipewright.planner.pipedream.PipeDream2bwPlanning.Candidate;
import dev.pipewright.planner.pipedream.PipeDream2bwPlanning.Stage;
import dev.pipewright.units.Units;
import java.util.List;

/** A plan of PipeDream-2BW's planner for a terminal: what it is, why, and how good. */
public final class PipeDream2bwText {
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

  private PipeDream2bwText(int width, Ink ink) {
    this.width = width;
    this.ink = ink;
  }

  /** The report of a planning that found something, each line ended by a newline. */
  public static String of(
      PipeDream2bwPlanning planning,
      Heading heading,
      SteadyLines steady,
      double capacityBytes,
      int width,
      boolean colours) {
    return new PipeDream2bwText(width, new Ink(colours))
        .text(planning, planning.best().orElseThrow(), heading, steady, capacityBytes);
  }

  private String text(
      PipeDream2bwPlanning planning,
      Candidate best,
      Heading heading,
      SteadyLines steady,
      double capacityBytes) {
    TextWidth.heading(out, ink, heading.title, width);
    out.append("  ");
    TextWidth.wrap(out, "schedule pipedream-2bw: " + words(best), width, 4);
    out.append('\n');
    steady
        .of("update", best.seconds(), "PipeDream-2BW's planner")
        .forEach(one -> line(one.words(), one.value()));
    line(
        "lower bound",
        Units.seconds(planning.lowerBound().value())
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
    line("times", heading.provenance);
    return out.toString();
  }

  /** {@code 2 copies of 4 stages, 8 micro-batches of 16 each}. */
  private static String words(Candidate plan) {
    return Words.count(plan.depth(), "stage")
        + " × "
        + Words.count(plan.width(), "replica")
        + ", "
        + Words.count(plan.microBatches(), "micro-batch")
        + " of "
        + plan.microBatch()
        + " for each update"
        + (plan.recompute() ? ", recomputing" : "");
  }

  private static Table stages(Candidate best, double capacityBytes) {
    List<Column> columns = StageRows.columns();
    columns.add(Column.number("in\nflight"));
    columns.add(Column.number("compute"));
    columns.add(Column.number("transfers"));
    columns.add(Column.number("sum of\ngradients"));
    columns.add(Column.number("memory"));
    return new Table(
        columns,
        StageRows.of(
            best.stages().stream().map(stage -> stage(stage, capacityBytes)).toList(), DEVICES));
  }

  private static StageRows.Stage stage(Stage stage, double capacityBytes) {
    Cell compute = Cell.seconds(stage.computeSeconds());
    Cell transfers = Cell.seconds(stage.transferSeconds());
    Cell sums = Cell.seconds(stage.exchangeSeconds());
    return new StageRows.Stage(
        stage.firstLayer(),
        stage.lastLayer(),
        stage.devices(),
        List.of(compute.text(), transfers.text(), sums.text()),
        List.of(
            Cell.of(Integer.toString(stage.inFlight())),
            compute,
            transfers,
            sums,
            Cell.of(Units.percent(stage.memoryBytes() / capacityBytes))));
  }

  private void line(String words, String value) {
    FigureLine.append(out, ink, width, words, value);
  }
}
