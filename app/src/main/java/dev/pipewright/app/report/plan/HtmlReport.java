package dev.pipewright.app.report.plan;

import dev.pipewright.app.report.page.HtmlPage;
import dev.pipewright.app.report.page.HtmlSections;
import dev.pipewright.app.report.page.Markup;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.app.report.timeline.Runs;
import dev.pipewright.app.report.timeline.TimelineData;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.reasons.Change;
import dev.pipewright.planner.reasons.PlanComparison;
import dev.pipewright.units.Units;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A plan as a page: its timeline, its stages, and how it compares with others. */
public final class HtmlReport {
  private HtmlReport() {}

  /** The whole document. */
  public static String of(Picture picture) {
    StringBuilder page = new StringBuilder();
    try {
      write(picture, page);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    return page.toString();
  }

  /** Appends the document part by part, since that of a long step is large. */
  public static void write(Picture picture, Appendable out) throws IOException {
    new HtmlPage(
            "Pipewright plan",
            picture.title(),
            Markup.of(rhythm(picture.planning())),
            HtmlSections.figures(HeadlineFigures.of(picture)),
            "Timeline and memory",
            "",
            picture.timeline().map(timeline -> TimelineData.of(Runs.of(picture.title(), timeline))),
            HtmlPage.fill(HtmlPage.resource("plan.html"), values(picture)))
        .write(out);
  }

  private static Map<String, String> values(Picture picture) {
    Planning planning = picture.planning();
    boolean drawn = picture.timeline().isPresent();
    return Map.ofEntries(
        Map.entry("hide", drawn ? "" : "hidden"),
        Map.entry("stages", stages(planning)),
        Map.entry("occupation", drawn ? PlanBars.occupations(picture.timeline().get()) : ""),
        Map.entry("rivals", PlanBars.rivals(planning)),
        Map.entry(
            "alternatives", HtmlSections.table(Tables.alternatives(planning, 50, 60), "plans")),
        Map.entry("binding", Markup.of(Words.glue(planning.binding()))),
        Map.entry("runner", Markup.of(Words.glue(runnerUp(planning)))),
        Map.entry(
            "compared",
            facts(
                "Compared",
                picture.reasons().comparisons().stream().map(PlanComparison::sentence))),
        Map.entry(
            "changes",
            facts("What if", picture.reasons().changes().stream().map(Change::sentence))),
        Map.entry("planned", Markup.of(Words.glue(TerminalReport.planned(picture)))),
        Map.entry("provenance", Markup.of(picture.provenance())));
  }

  private static String rhythm(Planning planning) {
    if (planning.best().isEmpty()) {
      return "Nothing fits.";
    }
    Candidate best = planning.best().get();
    return best.kind() + ": " + Words.stages(best.plan()) + ", " + Words.rhythm(best.plan());
  }

  private static String stages(Planning planning) {
    return planning.best().isEmpty()
        ? ""
        : HtmlSections.table(Tables.stages(planning.best().get(), 80), "stages")
            + MemoryTable.of(planning.best().get().decisive())
                .map(table -> HtmlSections.table(table, "memory"))
                .orElse("");
  }

  /** One row of the list for each sentence. */
  private static String facts(String name, Stream<String> sentences) {
    return sentences
        .map(
            sentence -> "<dt>%s</dt><dd>%s</dd>\n".formatted(name, Markup.of(Words.glue(sentence))))
        .collect(Collectors.joining());
  }

  private static String runnerUp(Planning planning) {
    if (planning.runnerUp().isEmpty()) {
      return "none was found";
    }
    Candidate second = planning.runnerUp().get();
    return second.kind()
        + " "
        + Words.shape(second.plan(), 200)
        + ": "
        + Units.seconds(second.seconds())
        + ", "
        + Tables.against(planning, 1);
  }
}
