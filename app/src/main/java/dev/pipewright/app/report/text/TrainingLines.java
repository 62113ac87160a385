package dev.pipewright.app.report.text;

import dev.pipewright.cost.Throughput;
import dev.pipewright.cost.TrainingFigures;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** What every answer says of the training that it is about: precision, batch, throughput. */
public final class TrainingLines {
  private TrainingLines() {}

  /** The figures for a terminal, a line or more each. */
  public static String of(TrainingFigures figures, int width, boolean colours) {
    StringBuilder out = new StringBuilder();
    for (Figure figure : figures(figures)) {
      FigureLine.append(
          out,
          new Ink(colours),
          width,
          figure.label(),
          figure.value() + (figure.note().isEmpty() ? "" : ", " + figure.note()));
    }
    return out.toString();
  }

  /** The same as text. */
  public static String sentences(TrainingFigures figures) {
    return figures(figures).stream()
        .map(figure ->
            "%s: %s%s."
                .formatted(
                    figure.label().substring(0, 1).toUpperCase(Locale.ROOT)
                        + figure.label().substring(1),
                    figure.value(),
                    figure.note().isEmpty() ? "" : ", " + figure.note()))
        .collect(Collectors.joining(" "));
  }

  public static List<Figure> figures(TrainingFigures figures) {
    List<Figure> lines = new ArrayList<>();
    figures.throughput().ifPresent(rate -> lines.add(throughput(rate)));
    lines.add(
        new Figure(
            "batch",
            Words.count(figures.globalBatch(), "sample"),
            "the global batch; micro-batches of " + perRank(figures) + " per rank"));
    lines.add(new Figure("precision", figures.training().precision().word(), training(figures)));
    return lines;
  }

  /** {@code 8}, or {@code 4 to 8} where stages differ. */
  private static String perRank(TrainingFigures figures) {
    int largest = figures.largestMicroBatch();
    int least =
        figures.microBatchPerRank().stream().mapToInt(Integer::intValue).min().orElse(largest);
    return least == largest ? String.valueOf(largest) : least + " to " + largest;
  }

  private static Figure throughput(Throughput rate) {
    List<String> notes = new ArrayList<>();
    rate.tokensPerSecond().ifPresent(tokens -> notes.add(Numbers.rate(tokens) + " tokens/s"));
    rate.flopPerSecond()
        .ifPresent(flop ->
            notes.add(
                Units.decimal(flop, "FLOP/s")
                    + " of the model per device"
                    + (rate.utilization().isPresent()
                        ? ", " + utilization(rate.utilization().getAsDouble(), rate)
                        : "")));
    return new Figure(
        "throughput",
        Numbers.rate(rate.samplesPerSecond()) + " samples/s",
        String.join("; ", notes));
  }

  private static String utilization(double share, Throughput rate) {
    String words = Units.percent(share) + " of its peak";
    if (share <= 1) {
      return words;
    }
    return words
        + (rate.fastConvolutions()
            ? ", since fast convolutions multiply less than the model counts"
            : ", so that its times and the cluster's peak are not of one device");
  }

  private static String training(TrainingFigures figures) {
    String words =
        figures.training().optimizer().name().toLowerCase(Locale.ROOT)
            + ", "
            + figures.training().staticBytesPerParameter()
            + " bytes per parameter";
    if (figures.reserve().isEmpty()) {
      return words;
    }
    double reserve = figures.reserve().getAsDouble();
    return words
        + (reserve > 0
            ? "; plans leave " + Units.percent(reserve) + " of the memory free"
            : "; plans may fill the memory");
  }
}
