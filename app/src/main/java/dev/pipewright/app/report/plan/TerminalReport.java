package dev.pipewright.app.report.plan;

import dev.pipewright.app.report.text.Figure;
import dev.pipewright.app.report.text.Ink;
import dev.pipewright.app.report.text.Table;
import dev.pipewright.app.report.text.TerminalTable;
import dev.pipewright.app.report.text.TextWidth;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.planner.Objective;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.reasons.Change;
import dev.pipewright.planner.reasons.PlanComparison;
import dev.pipewright.units.Units;
import java.util.List;
import java.util.Optional;

/** A plan for a terminal: what it is, why, how good, and what else there was. */
public final class TerminalReport {
  /** Columns of a terminal that does not say. */
  public static final int WIDTH = 100;

  private static final int LABEL = 14; // columns of "  lower bound "
  private static final int MOST_ALTERNATIVES = 10;

  private final Picture picture;
  private final int width;
  private final Ink ink;
  private final StringBuilder out = new StringBuilder();

  private TerminalReport(Picture picture, int width, boolean colours) {
    this.picture = picture;
    this.width = width;
    this.ink = new Ink(colours);
  }

  /** The report in at most {@value #WIDTH} columns, without colours. */
  public static String of(Picture picture) {
    return of(picture, WIDTH, false);
  }

  /**
   * The report, each line ended by a newline.
   *
   * @param width columns to stay within; tables keep about 90 whatever it says
   * @param colours whether to use the escape sequences of terminals
   */
  public static String of(Picture picture, int width, boolean colours) {
    return new TerminalReport(picture, width, colours).text();
  }

  private String text() {
    Planning planning = picture.planning();
    TextWidth.heading(out, ink, picture.title(), width);
    if (planning.best().isPresent()) {
      plan(planning.best().get());
    } else {
      out.append("\n  Nothing fits: ");
      TextWidth.wrap(out, planning.binding(), width, 2);
    }
    why(planning);
    alternatives(planning);
    provenance();
    return out.toString();
  }

  private void plan(Candidate best) {
    String rhythm =
        best.kind() + ": " + Words.stages(best.plan()) + ", " + Words.rhythm(best.plan());
    TextWidth.wrap(
        out, Tables.recomputes(best.plan()) ? rhythm : rhythm + ", no recomputation", width, 2);
    out.append('\n');
    List<Figure> figures = HeadlineFigures.of(picture);
    int values = 0;
    for (Figure figure : figures) {
      values = Math.max(values, TextWidth.of(figure.value()));
    }
    for (Figure figure : figures) {
      StringBuilder value = new StringBuilder();
      TextWidth.pad(value, figure.value(), values, true);
      label(figure.label());
      ink.paint(out, Ink.BOLD, value.toString());
      out.append("  ");
      TextWidth.wrap(out, figure.note(), width, LABEL + values + 2);
    }
    out.append('\n');
    TerminalTable.append(out, Tables.stages(best, 16), width, ink);
    Optional<Table> memory = MemoryTable.of(best.decisive());
    if (memory.isPresent()) {
      out.append('\n');
      TerminalTable.append(out, memory.get(), width, ink);
    }
  }

  private void why(Planning planning) {
    if (planning.best().isEmpty()) {
      return;
    }
    out.append('\n');
    label("bound by");
    TextWidth.wrap(out, planning.binding(), width, LABEL);
    if (planning.runnerUp().isPresent()) {
      Candidate second = planning.runnerUp().get();
      label("runner-up");
      String words =
          second.kind()
              + " "
              + Words.shape(second.plan(), 60)
              + ": "
              + HeadlineFigures.value(planning.objective(), planning.objective().of(second))
              + ", "
              + Tables.against(planning, 1);
      TextWidth.wrap(out, words, width, LABEL);
    }
    for (PlanComparison comparison : picture.reasons().comparisons()) {
      label("compared");
      TextWidth.wrap(out, Words.glue(comparison.sentence()), width, LABEL);
    }
    for (Change change : picture.reasons().changes()) {
      label("what if");
      TextWidth.wrap(out, Words.glue(change.sentence()), width, LABEL);
    }
  }

  private void alternatives(Planning planning) {
    int least = planning.best().isPresent() ? 2 : 1; // the best alone is shown above
    if (planning.candidates().size() < least) {
      return;
    }
    out.append('\n');
    if (planning.objective() == Objective.PEAK_MEMORY && planning.candidates().size() > 2) {
      out.append("from the smallest peak to the fastest step")
          .append(planning.search().exhaustive() ? "\n\n" : ", as far as was searched\n\n");
    }
    Table table = Tables.alternatives(planning, MOST_ALTERNATIVES, 22);
    TerminalTable.append(out, table, width, ink);
    int more = planning.candidates().size() - MOST_ALTERNATIVES;
    if (more > 0) {
      out.append("  … and ").append(more).append(" more\n");
    }
    if (Tables.marksAny(planning, MOST_ALTERNATIVES)) {
      out.append("  ! does not fit\n");
    }
  }

  private void provenance() {
    out.append('\n');
    label("planned");
    TextWidth.wrap(out, planned(picture), width, LABEL);
    label("times");
    TextWidth.wrap(out, picture.provenance(), width, LABEL);
  }

  /** {@code in 21.3 ms by dapple, cost model pipewright, …}: who searched what, if anything was. */
  static String planned(Picture picture) {
    Planning planning = picture.planning();
    if (planning.isGiven()) {
      return "elsewhere; here only priced, with cost model " + planning.costModel();
    }
    Planning.Search search = planning.search();
    return "in "
        + Units.seconds(picture.planningSeconds())
        + " by "
        + planning.planner()
        + " with cost model "
        + planning.costModel()
        + "; "
        + (search.exhaustive() ? "exhaustive" : "not exhaustive")
        + " over "
        + search.space()
        + (search.labels() == 0 ? "" : ", " + Words.count(search.labels(), "partial plan"));
  }

  private void label(String words) {
    StringBuilder label = new StringBuilder("  ");
    TextWidth.pad(label, words, LABEL - 2, false);
    ink.paint(out, Ink.DIM, label.toString());
  }
}
