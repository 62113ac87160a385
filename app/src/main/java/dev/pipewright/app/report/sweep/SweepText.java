package dev.pipewright.app.report.sweep;

import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.app.report.text.WordTable;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.formats.sweep.SweepFigures;
import dev.pipewright.formats.sweep.SweepKey;
import dev.pipewright.formats.sweep.SweepPoint;
import dev.pipewright.formats.sweep.SweepResult;
import dev.pipewright.units.Units;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The answers of a sweep for a terminal. */
public final class SweepText {
  private static final int MOST_ROWS = 60; // more are read in the file

  private SweepText() {}

  /** A point and its answer in one line. */
  public static String line(SweepResult result) {
    return result.key() + ": " + result.figures().map(SweepText::words).orElse(result.sentence());
  }

  private static String words(SweepFigures found) {
    return Double.isFinite(found.stepSeconds())
        ? Units.seconds(found.stepSeconds()) + " per step"
        : Numbers.bytes(found.peakBytes());
  }

  /** A row for each point that has an answer. */
  public static String of(
      List<SweepPoint> points, Map<SweepKey, SweepResult> results, int columns, boolean colours) {
    List<SweepPoint> answered =
        points.stream().filter(point -> results.containsKey(point.key())).toList();
    boolean flagged = answered.stream().anyMatch(point -> !point.flags().name().isEmpty());
    WordTable table = new WordTable().text("model", "cluster").numbers("batch");
    if (flagged) {
      table.text("flags");
    }
    table.numbers("step", "samples/s\nper device", "memory").text("plan");
    for (SweepPoint point : answered.subList(0, Math.min(MOST_ROWS, answered.size()))) {
      Optional<SweepResult> result = Optional.ofNullable(results.get(point.key()));
      row(table, point, result.orElseThrow(), flagged);
    }
    String text = table.in(columns, colours);
    int more = answered.size() - MOST_ROWS;
    return more > 0 ? text + "  … and " + Words.count(more, "further point") + "\n" : text;
  }

  private static void row(WordTable table, SweepPoint point, SweepResult result, boolean flagged) {
    String step = "–";
    String rate = "–";
    String memory = "–";
    String plan = result.sentence();
    if (result.figures().isPresent()) {
      SweepFigures found = result.figures().get();
      step = Double.isFinite(found.stepSeconds()) ? Units.seconds(found.stepSeconds()) : "–";
      rate =
          found.samplesPerSecond().isPresent()
              ? Numbers.rate(found.samplesPerSecond().getAsDouble() / found.clusterDevices())
              : "–";
      memory = Numbers.bytes(found.peakBytes());
      plan =
          "%s on %s, %s"
              .formatted(
                  Words.count(found.shape().stages(), "stage"),
                  Words.count(found.devices(), "device"),
                  found.shape().schedule());
    }
    String model = point.model().name();
    String cluster = point.cluster().name();
    String batch = point.batch().name();
    if (flagged) {
      table.row(model, cluster, batch, point.flags().name(), step, rate, memory, plan);
    } else {
      table.row(model, cluster, batch, step, rate, memory, plan);
    }
  }
}
