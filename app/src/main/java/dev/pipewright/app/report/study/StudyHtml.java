package dev.pipewright.app.report.study;

import dev.pipewright.app.report.chart.StackChart;
import dev.pipewright.app.report.page.HtmlPage;
import dev.pipewright.app.report.page.HtmlSections;
import dev.pipewright.app.report.page.Markup;
import dev.pipewright.app.report.text.Figure;
import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.app.report.text.Table;
import dev.pipewright.app.report.text.TrainingLines;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.cost.TrainingFigures;
import dev.pipewright.predict.paradl.Prediction.Predicted;
import dev.pipewright.predict.paradl.Study;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A study as one page for the browser that loads nothing from anywhere and needs no script.
 *
 * <p>The page is the resource {@code study.html}, whose placeholders {@code {{name}}} are replaced.
 */
public final class StudyHtml {
  private StudyHtml() {}

  /** The whole document. */
  public static String of(Study study, Asked asked, Optional<TrainingFigures> training) {
    return HtmlPage.fill(HtmlPage.resource("study.html"), values(study, asked, training));
  }

  private static Map<String, String> values(
      Study study, Asked asked, Optional<TrainingFigures> training) {
    StackChart time = StudyTimeSvg.chart(study);
    StackChart memory = StudyMemorySvg.chart(study);
    Table limits = StudyTables.limits(study);
    Table impossible = StudyTables.impossible(study);
    return Map.ofEntries(
        Map.entry("title", Markup.of(asked.title())),
        Map.entry("model", Markup.of(asked.model())),
        Map.entry("cluster", Markup.of(asked.cluster())),
        Map.entry("question", Markup.of(Words.glue(asked.question()))),
        Map.entry("provenance", Markup.of(asked.provenance())),
        Map.entry("style", style()),
        Map.entry("answer", Markup.of(Words.glue(StudyWords.answer(study)))),
        Map.entry("figures", figures(study, training)),
        Map.entry("choices", HtmlSections.table(StudyTables.choices(study), "choices")),
        Map.entry(
            "crossovers",
            sentences(StudyWords.crossovers(study)) + sentences(List.of(Study.ASSUMED))),
        Map.entry("time", StudyPanels.of(time)),
        Map.entry("memory", StudyPanels.of(memory)),
        Map.entry(
            "scaling",
            StudyPanels.twoSizes(size -> StudyScalingSvg.inPage(study, size, height(size)))),
        Map.entry("paretoTitle", Markup.of(StudyParetoSvg.title(StudyParetoSvg.devices(study)))),
        Map.entry(
            "pareto",
            StudyPanels.twoSizes(size -> StudyParetoSvg.inPage(study, size, height(size)))),
        Map.entry("findings", findings(study)),
        Map.entry("sensitivities", sensitivities(study)),
        Map.entry("limits", table("What ends the scaling", limits)),
        Map.entry("impossible", table("Impossible", impossible)),
        Map.entry(
            "predictions",
            HtmlSections.table(
                StudyTables.predictions(study, Arrays.asList(StudyColumn.values())),
                "predictions")));
  }

  private static double height(double width) {
    return Math.max(340, 0.66 * width);
  }

  private static String style() {
    return HtmlPage.resource("report.css")
        + HtmlPage.resource("study.css")
        + HtmlPage.resource("study-picture.css");
  }

  private static String figures(Study study, Optional<TrainingFigures> training) {
    Optional<Predicted> choice = StudyWords.choice(study);
    if (choice.isEmpty()) {
      return "";
    }
    Predicted best = choice.get();
    double total = best.iterationSeconds();
    List<Figure> figures = new ArrayList<>();
    figures.add(
        new Figure("strategy", breakable(best.strategy().label()), "layout " + best.layout()));
    figures.add(
        new Figure(
            "iteration",
            Units.seconds(total),
            "of "
                + Words.count(best.globalBatch(), "sample")
                + (best.epochSeconds().isPresent()
                    ? "; an epoch takes " + StudyColumn.EPOCH.cell(best, true).text()
                    : "")));
    figures.add(
        new Figure(
            "communication",
            StudyWords.share(total > 0 ? best.phases().communication() / total : 0),
            Units.seconds(best.phases().communication()) + " of the iteration"));
    figures.add(memory(best));
    training.ifPresent(found -> figures.addAll(TrainingLines.figures(found)));
    return HtmlSections.figures(figures);
  }

  /** With a chance to break the line after each plus. */
  private static String breakable(String label) {
    return label.replace("+", "+\u200b");
  }

  private static Figure memory(Predicted best) {
    double bytes = best.memory().total();
    String note =
        Figure.isLimited(best.capacity())
            ? StudyWords.share(bytes / best.capacity()) + " of " + Numbers.bytes(best.capacity())
            : "on the fullest device";
    return new Figure("memory", Numbers.bytes(bytes), note);
  }

  private static String sentences(List<String> sentences) {
    StringBuilder out = new StringBuilder();
    for (String sentence : sentences) {
      out.append("<p>").append(Markup.of(Words.glue(sentence))).append("</p>\n");
    }
    return out.toString();
  }

  private static String findings(Study study) {
    Optional<Predicted> choice = StudyWords.choice(study);
    if (choice.isEmpty() || choice.get().findings().isEmpty()) {
      return "";
    }
    String heading = "What holds " + StudyStacks.place(choice.get()) + " back";
    return table(heading, StudyTables.findings(choice.get()));
  }

  private static String sensitivities(Study study) {
    Table table = StudyTables.sensitivities(study);
    String devices = Words.count(StudyWords.mostDevices(study), "device");
    String hint =
        "<p class=\"hint\">Percentages are changes in samples per second; ! marks another choice than"
            + " now.</p>\n";
    return table.rows().isEmpty()
        ? ""
        : section(
            "Choice on " + devices + " of other machines",
            hint + HtmlSections.table(table, "other machines"));
  }

  /** A section whose table has sentences, which wrap; nothing where there are no rows. */
  private static String table(String heading, Table table) {
    return table.rows().isEmpty()
        ? ""
        : section(
            heading,
            "<div class=\"sentences\">" + HtmlSections.table(table, Markup.of(heading)) + "</div>");
  }

  private static String section(String heading, String content) {
    return "<section>\n<h2>" + Markup.of(heading) + "</h2>\n" + content + "</section>\n";
  }
}
