package dev.pipewright.app.cli;

import dev.pipewright.cluster.Link;
import dev.pipewright.formats.LeftOut;
import dev.pipewright.formats.LinkFitJson;
import dev.pipewright.profile.CollectiveTiming;
import dev.pipewright.profile.FitQuality;
import dev.pipewright.profile.LinkFit;
import dev.pipewright.units.Units;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** The constants of a link and how well they tell what was measured, as tables for a terminal. */
final class FitText {
  private static final String ROW = "  %-26s %9s %11s %11s %9s %12s%n";
  private static final String COUNT_ROW = "  %7s %7s  %9s %11s %11s  %6s %11s %9s%n";

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

  private void row(String format, Object... cells) {
    String row = String.format(Locale.ROOT, format, cells);
    out.append(row.stripTrailing()).append(System.lineSeparator());
  }

  private void heading(LinkFitJson.Context fit) {
    List<CollectiveTiming> timings = fit.timings();
    double least = timings.stream().mapToDouble(CollectiveTiming::bytes).min().orElse(0);
    double most = timings.stream().mapToDouble(CollectiveTiming::bytes).max().orElse(0);
    row(
        "%s: %d timings of %s on %s devices, %s to %s%n",
        fit.source(),
        timings.size(),
        timings.stream()
            .map(timing -> timing.kind().name().toLowerCase(Locale.ROOT))
            .distinct()
            .collect(Collectors.joining(", ")),
        fit.byDevices().keySet().stream().map(String::valueOf).collect(Collectors.joining(", ")),
        Units.binary(least, "B"),
        Units.binary(most, "B"));
    out.append(System.lineSeparator());
  }

  /** One line for lines that follow one another and share a reason. */
  private void leftOut(List<LeftOut> lines) {
    if (lines.isEmpty()) {
      return;
    }
    out.append(System.lineSeparator());
    row("left out:");
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
      row("  %s: %s", where, lines.get(i).why());
    }
  }

  private void constants(LinkFit fit) {
    row(
        ROW,
        "messages of one step",
        "latency",
        "bandwidth",
        "mean error",
        "largest",
        "within 10 %");
    link("one pair", fit.line(), fit.lineQuality());
    link("one pair, from the ranges", fit.ranges(), fit.rangesQuality());
    if (fit.pieces().small().isEmpty()) {
      return;
    }
    FitQuality quality = fit.piecesQuality();
    row(
        ROW,
        "by size",
        "",
        "",
        percent(quality.meanError()),
        percent(quality.largestError()),
        percent(quality.near()));
    for (Link.Piece piece : fit.pieces().small()) {
      String upTo = "  up to " + Units.binary(piece.upToBytes(), "B");
      row(ROW, upTo, piece.latency(), piece.bandwidth(), "", "", "");
    }
    row(ROW, "  above", fit.pieces().latency(), fit.pieces().bandwidth(), "", "", "");
  }

  private void link(String name, Link link, FitQuality quality) {
    row(
        ROW,
        name,
        link.latency(),
        link.bandwidth(),
        percent(quality.meanError()),
        percent(quality.largestError()),
        percent(quality.near()));
  }

  private void counts(LinkFitJson.Context fit) {
    out.append(System.lineSeparator());
    row(COUNT_ROW, "", "", "one pair:", "", "", "by size:", "", "");
    row(
        COUNT_ROW,
        "devices",
        "timings",
        "latency",
        "bandwidth",
        "mean error",
        "pieces",
        "mean error",
        "largest");
    fit.byDevices().forEach((devices, own) -> count(String.valueOf(devices), own));
    count("all", fit.whole());
  }

  private void count(String devices, LinkFit fit) {
    row(
        COUNT_ROW,
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
