package dev.pipewright.app.cli.train;

import dev.pipewright.app.cli.terminal.Terminal;
import dev.pipewright.app.report.text.WordTable;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.cluster.Link;
import dev.pipewright.cluster.MessageOverhead;
import dev.pipewright.execution.ProfilingOutcome;
import dev.pipewright.execution.ProfilingOutcome.BatchFigures;
import dev.pipewright.execution.ProfilingOutcome.LayerFigures;
import dev.pipewright.execution.ProfilingOutcome.LinkFigures;
import dev.pipewright.execution.ProfilingOutcome.Spread;
import dev.pipewright.execution.ProfilingOutcome.SumsInTraining;
import dev.pipewright.units.Units;

/** What was measured of a network and of links, for a terminal. */
public final class ProfileText {
  private static final int LONGEST_NAME = 24;
  private static final double MEBIBYTE = 1 << 20;

  private final ProfilingOutcome outcome;
  private final StringBuilder text = new StringBuilder();

  private ProfileText(ProfilingOutcome outcome) {
    this.outcome = outcome;
  }

  static String of(ProfilingOutcome outcome) {
    ProfileText made = new ProfileText(outcome);
    made.line("%s  %s", outcome.graph().name(), outcome.profile().provenance());
    made.line(
        "an empty op takes %s forward and %s backward; it is in no layer's time",
        Units.seconds(outcome.overhead().forward()), Units.seconds(outcome.overhead().backward()));
    outcome.stolen().remark().ifPresent(remark -> made.line("%s", remark));
    outcome.batches().forEach(made::steps);
    made.layers(outcome.batches().get(outcome.batches().size() - 1));
    made.links();
    return made.text.toString();
  }

  private void line(String format, Object... values) {
    text.append(Terminal.sentence(format.formatted(values)));
  }

  private void table(WordTable table) {
    text.append('\n').append(table.in(Terminal.columns(), Terminal.colours()));
  }

  private void steps(BatchFigures batch) {
    double measured = batch.stepSeconds().median();
    line(
        "batch %d, step of %s: %s measured, %s by the sum of layers (%+.1f %%); it keeps %s of"
            + " activations; peak %s",
        batch.samples(),
        Words.count(batch.microBatches(), "micro-batch"),
        Units.seconds(measured),
        Units.seconds(batch.summedSeconds()),
        100 * (batch.summedSeconds() / measured - 1),
        Units.binary((double) batch.keptBytes(), "B"),
        Units.binary((double) batch.peakBytes(), "B"));
  }

  private void layers(BatchFigures batch) {
    WordTable table =
        new WordTable()
            .text("layer,\nbatch " + batch.samples())
            .numbers("forward", "backward", "input", "weight", "update", "spread", "kept");
    for (int i = 0; i < batch.layers().size(); i++) {
      LayerFigures layer = batch.layers().get(i);
      table.row(
          shortened(outcome.graph().layer(i).name()),
          seconds(layer.forward()),
          seconds(layer.backward()),
          seconds(layer.inputGradient()),
          seconds(layer.weightGradient()),
          seconds(layer.update()),
          width(layer.forward()),
          layer.keptBytes() == 0 ? "–" : Units.binary((double) layer.keptBytes(), "B"));
    }
    table(table);
  }

  /** The median; a dash for no time. */
  private static String seconds(Spread spread) {
    return spread.median() == 0 ? "–" : Units.seconds(spread.median());
  }

  private static String shortened(String name) {
    return name.length() <= LONGEST_NAME ? name : name.substring(0, LONGEST_NAME - 1) + "…";
  }

  /** From the shortest to the longest: a share of the median, or how many times as long it is. */
  public static String width(Spread spread) {
    double width = spread.median() == 0 ? 0 : (spread.most() - spread.least()) / spread.median();
    return width < 10 ? Math.round(100 * width) + " %" : Units.significant(width) + "×";
  }

  private void links() {
    if (outcome.links().isEmpty()) {
      return;
    }
    WordTable table =
        new WordTable().text("operation").numbers("workers", "latency", "bandwidth", "mean\nerror");
    for (LinkFigures link : outcome.links()) {
      Link fitted = link.fit().line();
      table.row(
          link.operation(),
          link.workers(),
          Units.seconds(fitted.latency().value()),
          Units.decimal(fitted.bandwidth().value(), "B/s"),
          Units.percent(link.fit().lineQuality().meanError()));
    }
    table(table);
    outcome.cluster().ifPresent(cluster -> overhead(cluster.software().message()));
    outcome.sums().ifPresent(this::sums);
  }

  private void overhead(MessageOverhead each) {
    text.append('\n');
    line("%s", words(each));
  }

  /** What messages cost; of what costs nothing it does not speak. */
  public static String words(MessageOverhead each) {
    String mebibyte = Units.seconds(each.secondsPerByte() * MEBIBYTE);
    if (each.seconds() > 0) {
      return "a message takes "
          + Units.seconds(each.seconds())
          + " of each end's computing"
          + (each.secondsPerByte() > 0 ? ", and " + mebibyte + " more for each MiB" : "");
    }
    return each.secondsPerByte() > 0
        ? "a message takes " + mebibyte + " of each end's computing for each MiB"
        : "messages slow computing by less than can be measured";
  }

  private void sums(SumsInTraining sums) {
    text.append('\n');
    line(
        "a step of %s on each of %d workers takes %s without sums of gradients, %s with the sums"
            + " after the backward pass, %s overlapped with it",
        Words.count(sums.samples(), "sample"),
        sums.workers(),
        Units.seconds(sums.alone()),
        Units.seconds(sums.after()),
        Units.seconds(sums.beside()));
  }
}
