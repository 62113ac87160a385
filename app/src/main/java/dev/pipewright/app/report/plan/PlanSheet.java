package dev.pipewright.app.report.plan;

import dev.pipewright.app.report.page.HtmlPage;
import dev.pipewright.app.report.page.HtmlSections;
import dev.pipewright.app.report.page.Markup;
import dev.pipewright.app.report.text.Figure;
import dev.pipewright.app.report.text.FigureLine;
import dev.pipewright.app.report.text.Ink;
import dev.pipewright.app.report.text.Table;
import dev.pipewright.app.report.text.TerminalTable;
import dev.pipewright.app.report.text.TextWidth;
import dev.pipewright.app.report.timeline.Runs;
import dev.pipewright.app.report.timeline.TimelineData;
import dev.pipewright.units.Units;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * A plan in figures and tables, for the terminal and for a page.
 *
 * @param title what runs on what
 * @param what the plan is, in words
 * @param parts in the order of the terminal
 */
public record PlanSheet(String title, String what, List<Part> parts) {
  /** Figures that belong together, or a table. */
  public sealed interface Part {
    /** On the page, a figure with a note is a headline; the others are listed at the end. */
    record Figures(List<Figure> figures) implements Part {
      public Figures {
        figures = List.copyOf(figures);
      }
    }

    /** A table under a heading, which the terminal leaves out. */
    record Rows(String heading, Table table) implements Part {}
  }

  public PlanSheet {
    parts = List.copyOf(parts);
  }

  /** A figure that a page does not put into its head. */
  public static Figure fact(String name, String value) {
    return new Figure(name, value, "");
  }

  /** The share of the devices' time without work, in the steady state. */
  public static Figure idle(double share) {
    return new Figure(
        "idle", Units.percent(share), "of the devices' time, once the pipeline is full");
  }

  /**
   * The report for a terminal, each line ended by a newline.
   *
   * @param width columns to stay within
   * @param colours whether to use the escape sequences of terminals
   */
  public String text(int width, boolean colours) {
    Ink ink = new Ink(colours);
    StringBuilder out = new StringBuilder();
    TextWidth.heading(out, ink, title, width);
    out.append("  ");
    TextWidth.wrap(out, what, width, 2);
    for (Part part : parts) {
      out.append('\n');
      switch (part) {
        case Part.Figures some ->
            some.figures()
                .forEach(one -> FigureLine.append(out, ink, width, one.label(), words(one)));
        case Part.Rows rows -> TerminalTable.append(out, rows.table(), width, ink);
      }
    }
    return out.toString();
  }

  private static String words(Figure figure) {
    return figure.note().isEmpty() ? figure.value() : figure.value() + " " + figure.note();
  }

  /**
   * Appends the page.
   *
   * @param runs the plan's timeline
   * @param hint what the timeline shows
   */
  public void page(Runs runs, String hint, Appendable out) throws IOException {
    List<Figure> headlines = new ArrayList<>();
    List<Figure> facts = new ArrayList<>();
    StringBuilder sections = new StringBuilder();
    for (Part part : parts) {
      switch (part) {
        case Part.Figures some ->
            some.figures().forEach(one -> (one.note().isEmpty() ? facts : headlines).add(one));
        case Part.Rows rows -> sections.append(section(rows));
      }
    }
    sections.append(HtmlSections.section("why", "Why this plan", HtmlSections.facts(facts)));
    new HtmlPage(
            "Pipewright plan",
            title,
            Markup.of(what),
            HtmlSections.figures(headlines),
            "Timeline and memory",
            hint,
            Optional.of(TimelineData.of(runs)),
            sections.toString())
        .write(out);
  }

  private static String section(Part.Rows rows) {
    String id = rows.heading().toLowerCase(Locale.ROOT);
    return HtmlSections.section(id, rows.heading(), HtmlSections.table(rows.table(), id));
  }
}
