package dev.pipewright.app.report.study;

import dev.pipewright.app.report.text.Ink;
import dev.pipewright.app.report.text.LegendLine;
import dev.pipewright.app.report.text.Table;
import dev.pipewright.app.report.text.Table.Cell;
import dev.pipewright.app.report.text.TerminalTable;
import dev.pipewright.app.report.text.TextWidth;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.predict.paradl.Finding;
import dev.pipewright.predict.paradl.Prediction.Predicted;
import dev.pipewright.predict.paradl.Study;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A study for a terminal: the answer, every prediction, and what would change the answer. */
public final class StudyText {
  private final Study study;
  private final int columns;
  private final Ink ink;
  private final StringBuilder out = new StringBuilder();

  private StudyText(Study study, int columns, boolean colour) {
    this.study = study;
    this.columns = columns;
    this.ink = new Ink(colour);
  }

  /**
   * The report, each line ended by a newline.
   *
   * @param columns to stay within
   * @param colour whether to use the escape sequences of terminals
   */
  public static String of(Study study, int columns, boolean colour) {
    return new StudyText(study, columns, colour).text();
  }

  private String text() {
    StringBuilder answer = new StringBuilder();
    TextWidth.wrap(answer, StudyWords.answer(study), columns, 0);
    answer.toString().lines().forEach(line -> line(Ink.BOLD, line));
    out.append('\n');
    predictions();
    choices();
    sensitivities();
    rows("What ends the scaling", StudyTables.limits(study));
    rows("Impossible", StudyTables.impossible(study));
    StudyWords.choice(study).ifPresent(this::findings);
    return out.toString();
  }

  private void line(String style, String words) {
    ink.paint(out, style, words);
    out.append('\n');
  }

  private void heading(String words) {
    out.append('\n');
    line(Ink.BOLD, words);
  }

  /** With as many columns as there is room for. */
  private void predictions() {
    List<StudyColumn> shown = new ArrayList<>(Arrays.asList(StudyColumn.values()));
    if (StudyStacks.predicted(study).stream().allMatch(p -> p.samplesPerEpoch().isEmpty())) {
      shown.remove(StudyColumn.EPOCH);
    }
    for (StudyColumn column : StudyColumn.DISPENSABLE) {
      if (hasRoom(StudyTables.predictions(study, shown))) {
        break;
      }
      shown.remove(column);
    }
    TerminalTable.append(out, StudyTables.predictions(study, shown), columns, ink);
    legend();
  }

  private boolean hasRoom(Table table) {
    return TerminalTable.fits(table, columns);
  }

  private void legend() {
    List<Predicted> all = StudyStacks.predicted(study);
    List<String> marks = new ArrayList<>();
    if (StudyWords.choice(study).isPresent()) {
      marks.add("* choice: the fastest, or a simpler one within 1 %");
    }
    if (all.stream().anyMatch(predicted -> !predicted.fits())) {
      marks.add("! does not fit");
    }
    if (!marks.isEmpty()) {
      LegendLine.append(out, marks, 2, columns);
    }
    out.append("  ");
    TextWidth.wrap(out, Study.ASSUMED, columns, 2);
  }

  /** Nothing where the first sentence has said it all. */
  private void choices() {
    if (study.devices().size() == 1 && study.strategies().size() == 1) {
      return;
    }
    heading("Choice for each number of devices");
    TerminalTable.append(out, StudyTables.choices(study), columns, ink);
    for (String sentence : StudyWords.crossovers(study)) {
      out.append("  ");
      TextWidth.wrap(out, sentence, columns, 2);
    }
  }

  private void sensitivities() {
    Table table = StudyTables.sensitivities(study);
    if (table.rows().isEmpty()) {
      return;
    }
    heading(
        "Choice on " + Words.count(StudyWords.mostDevices(study), "device") + " of other machines");
    TerminalTable.append(out, table, columns, ink);
    boolean changes = study.sensitivities().stream().anyMatch(Study.Sensitivity::changes);
    List<String> entries = new ArrayList<>();
    if (changes) {
      entries.add("! another choice than now");
    }
    entries.add("percentages: change in samples per second");
    LegendLine.append(out, entries, 2, columns);
  }

  /** A table whose last column is a sentence and is wrapped. */
  private void rows(String heading, Table table) {
    if (table.rows().isEmpty()) {
      return;
    }
    heading(heading);
    int last = table.columns().size() - 1;
    for (List<Cell> row : table.rows()) {
      StringBuilder line = new StringBuilder("  ");
      for (int i = 0; i < last; i++) {
        TextWidth.pad(line, row.get(i).text(), width(table, i), table.columns().get(i).right());
        line.append("  ");
      }
      out.append(line);
      TextWidth.wrap(out, row.get(last).text(), columns, TextWidth.of(line.toString()));
    }
  }

  private static int width(Table table, int column) {
    int width = 0;
    for (List<Cell> row : table.rows()) {
      width = Math.max(width, TextWidth.of(row.get(column).text()));
    }
    return width;
  }

  private void findings(Predicted best) {
    if (best.findings().isEmpty()) {
      return;
    }
    heading("What holds " + StudyStacks.place(best) + " back");
    for (Finding finding : best.findings()) {
      out.append("  ");
      TextWidth.wrap(out, finding.bottleneck().label() + ": " + finding.sentence(), columns, 4);
      if (!finding.help().isEmpty()) {
        out.append("    → ");
        TextWidth.wrap(out, finding.help(), columns, 6);
      }
    }
  }
}
