package dev.pipewright.app.cli.catalog;

import dev.pipewright.app.cli.terminal.Terminal;
import dev.pipewright.app.report.text.WordTable;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.cluster.Link;
import dev.pipewright.formats.cluster.LeftOut;
import dev.pipewright.formats.cluster.LinkFitJson;
import dev.pipewright.profile.CollectiveTiming;
import dev.pipewright.profile.FitQuality;
import dev.pipewright.profile.LinkFit;
import dev.pipewright.units.Units;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** The constants of a link and how well they tell what was measured, as tables for a terminal. */
public final class FitText {
  private final StringBuilder out = new StringBuilder();

  private FitText() {}

  static String of(LinkFitJson.Context fit) {
    FitText text = new FitText();
    text.heading(fit);
    text.constants(fit.whole());
    if (fit.byDevices().size() > 1) {
      text.counts(fit);
    }
    text.leftOut(fit.leftOut());
    return text.out.toString();
  }

  private void table(WordTable table) {
    out.append(table.in(Terminal.columns(), Terminal.colours()));
  }

  private void heading(LinkFitJson.Context fit) {
    List<CollectiveTiming> timings = fit.timings();
    double least = timings.stream().mapToDouble(CollectiveTiming::bytes).min().orElse(0);
    double most = timings.stream().mapToDouble(CollectiveTiming::bytes).max().orElse(0);
    out.append(
            Terminal.sentence(
                "%s: %s of %s on %s devices, %s to %s"
                    .formatted(
                        fit.source(),
                        Words.count(timings.size(), "timing"),
                        timings.stream()
                            .map(timing -> timing.kind().name().toLowerCase(Locale.ROOT))
                            .distinct()
                            .collect(Collectors.joining(", ")),
                        fit.byDevices().keySet().stream()
                            .map(String::valueOf)
                            .collect(Collectors.joining(", ")),
                        Units.binary(least, "B"),
                        Units.binary(most, "B"))))
        .append('\n');
  }

  /** One line for lines that follow one another and share a reason. */
  private void leftOut(List<LeftOut> lines) {
    if (lines.isEmpty()) {
      return;
    }
    out.append("\nleft out:\n");
    for (int i = 0, end; i < lines.size(); i = end) {
      end = i + 1;
      while (end < lines.size()
          && lines.get(end).why().equals(lines.get(i).why())
          && lines.get(end).line() - lines.get(end - 1).line() <= 1) {
        end++;
      }
      int first = lines.get(i).line();
      int last = lines.get(end - 1).line();
      String where = first == last ? "line " + first : "lines " + first + " to " + last;
      out.append(Terminal.sentence("  %s: %s".formatted(where, lines.get(i).why())));
    }
  }

  private void constants(LinkFit fit) {
    WordTable table =
        new WordTable()
            .text("fit of one step's messages")
            .numbers("latency", "bandwidth", "mean\nerror", "largest\nerror", "within\n10 %");
    link(table, "one line", fit.line(), fit.lineQuality());
    link(table, "one line, by the extremes", fit.ranges(), fit.rangesQuality());
    if (!fit.pieces().small().isEmpty()) {
      FitQuality quality = fit.piecesQuality();
      table.row(
          "lines by size",
          "",
          "",
          percent(quality.meanError()),
          percent(quality.largestError()),
          percent(quality.near()));
      for (Link.Piece piece : fit.pieces().small()) {
        String upTo = "  up to " + Units.binary(piece.upToBytes(), "B");
        table.row(upTo, piece.latency(), piece.bandwidth(), "", "", "");
      }
      table.row("  above", fit.pieces().latency(), fit.pieces().bandwidth(), "", "", "");
    }
    table(table);
  }

  private static void link(WordTable table, String name, Link link, FitQuality quality) {
    table.row(
        name,
        link.latency(),
        link.bandwidth(),
        percent(quality.meanError()),
        percent(quality.largestError()),
        percent(quality.near()));
  }

  private void counts(LinkFitJson.Context fit) {
    out.append('\n');
    WordTable table =
        new WordTable()
            .numbers(
                "devices",
                "timings",
                "one line:\nlatency",
                "\nbandwidth",
                "mean\nerror",
                "lines\nby size",
                "mean\nerror",
                "largest\nerror");
    fit.byDevices().forEach((devices, own) -> count(table, String.valueOf(devices), own));
    count(table, "all", fit.whole());
    table(table);
  }

  private static void count(WordTable table, String devices, LinkFit fit) {
    table.row(
        devices,
        fit.lineQuality().points(),
        fit.line().latency(),
        fit.line().bandwidth(),
        percent(fit.lineQuality().meanError()),
        fit.pieces().small().size() + 1,
        percent(fit.piecesQuality().meanError()),
        percent(fit.piecesQuality().largestError()));
  }

  private static String percent(double share) {
    return Units.percent(share);
  }
}
