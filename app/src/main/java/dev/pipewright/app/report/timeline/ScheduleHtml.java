package dev.pipewright.app.report.timeline;

import dev.pipewright.app.report.page.HtmlPage;
import dev.pipewright.app.report.page.HtmlSections;
import dev.pipewright.app.report.page.Markup;
import dev.pipewright.app.report.text.Figure;
import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.units.Units;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** Schedules as a page: their figures, their timeline, and the values of each rank. */
public final class ScheduleHtml {
  private ScheduleHtml() {}

  /** Appends the whole document for schedules of the same work. */
  public static void write(Runs runs, Appendable out) throws IOException {
    String times = runs.times();
    write(runs, times.isEmpty() ? "" : Markup.of("Op times: " + times + "."), figures(runs), out);
  }

  /**
   * The same with other figures.
   *
   * @param subject as markup
   */
  public static void write(Runs runs, String subject, String figures, Appendable out)
      throws IOException {
    new HtmlPage(
            "Pipewright schedule",
            runs.title(),
            subject,
            figures,
            "Who does what when",
            hint(runs),
            Optional.of(TimelineData.of(runs)),
            HtmlSections.section(
                "ranks", "Ranks", HtmlSections.table(RunTable.ranks(runs), "ranks")))
        .write(out);
  }

  private static String figures(Runs runs) {
    if (runs.areSeveral()) {
      return HtmlSections.section(
          "figures",
          "Figures",
          HtmlSections.table(RunTable.of(runs), "figures")
              + "<p class=\"hint\">"
              + Markup.of(RunTable.SPAN + "; " + RunTable.note(runs))
              + ".</p>\n");
    }
    Shown run = runs.first();
    String cap = run.isCapped() ? "; the cap is " + run.cap() : "";
    String idle = Units.percent(run.timeline().idleShare());
    String ofSpan = Units.percent(run.timeline().spanIdleShare());
    List<Figure> figures = new ArrayList<>();
    figures.add(
        new Figure(
            "makespan", runs.clock().duration(run.makespan()), "until the last op has ended"));
    figures.add(new Figure("idle", idle, "of the makespan, all ranks' mean"));
    if (!ofSpan.equals(idle)) {
      figures.add(
          new Figure("idle of span", ofSpan, "of the longest rank's span, its busiest rank"));
    }
    figures.add(
        new Figure(
            "peak activations",
            run.amount(run.peak()),
            "on the fullest rank, of a stage and micro-batch" + cap));
    run.period()
        .ifPresent(period -> {
          figures.add(
              new Figure(
                  "period",
                  Numbers.plain(period.time()),
                  "for %s, once the pipeline is full".formatted(period.completes())));
          figures.add(
              new Figure(
                  "idle once full",
                  Units.percent(period.idleShare()),
                  "of a period, all ranks' mean"));
        });
    return HtmlSections.figures(figures);
  }

  private static String hint(Runs runs) {
    String exchanges =
        runs.all().stream().anyMatch(Shown::overlaps)
            ? "; the thin bars are exchanges that overlap computation"
            : "";
    String ranks =
        runs.all().stream()
            .filter(run -> !run.numbering().ranksOfStages().isEmpty())
            .map(run ->
                "; "
                    + (runs.areSeveral() ? run.name() + ": " : "")
                    + run.numbering().ranksOfStages())
            .collect(Collectors.joining());
    SvgScale scale = SvgScale.of(runs);
    String held =
        runs.all().stream()
            .map(run -> runs.held(run, scale).replaceFirst("^, ", ""))
            .distinct()
            .collect(Collectors.joining(" or ", "; activations held are ", ""));
    return "Numbers are "
        + runs.numbers()
        + "; under the pointer, a cell says what it is"
        + exchanges
        + ranks
        + held
        + (runs.areSeveral() ? "; all have the same scale." : ".");
  }
}
