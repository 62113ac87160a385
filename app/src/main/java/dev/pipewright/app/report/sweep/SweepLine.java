package dev.pipewright.app.report.sweep;

import dev.pipewright.formats.sweep.SweepFigures;
import dev.pipewright.formats.sweep.SweepKey;
import dev.pipewright.formats.sweep.SweepPoint;
import dev.pipewright.formats.sweep.SweepResult;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/**
 * The points of a chart that are the same question on clusters of different size.
 *
 * @param name what differs from other lines: of model, kind of cluster, batch and flags
 * @param points by the devices of the cluster, fewest first
 */
record SweepLine(String name, List<Mark> points) {
  /**
   * A point.
   *
   * @param tip what it is, in words
   */
  record Mark(int devices, double value, String tip) {}

  SweepLine {
    points = List.copyOf(points);
  }

  Mark last() {
    return points.get(points.size() - 1);
  }

  /** The lines of a sweep, in the order of its points; without those that have no such figure. */
  static List<SweepLine> of(
      List<SweepPoint> points,
      Map<SweepKey, SweepResult> results,
      ToDoubleFunction<SweepFigures> figure,
      Function<SweepFigures, String> words) {
    List<Function<SweepPoint, String>> parts =
        List.of(
            point -> point.model().name(),
            SweepLine::kind,
            point -> "batch " + point.batch().name(),
            point -> point.flags().name());
    List<Function<SweepPoint, String>> differing =
        parts.stream().filter(part -> points.stream().map(part).distinct().count() > 1).toList();
    Map<List<String>, List<Mark>> lines = new LinkedHashMap<>();
    Map<List<String>, String> names = new LinkedHashMap<>();
    for (SweepPoint point : points) {
      SweepResult result = results.get(point.key());
      if (result == null || result.figures().isEmpty()) {
        continue;
      }
      SweepFigures found = result.figures().get();
      double value = figure.applyAsDouble(found);
      if (value > 0 && Double.isFinite(value)) {
        List<String> line = parts.stream().map(part -> part.apply(point)).toList();
        names.put(line, name(point, differing));
        lines
            .computeIfAbsent(line, key -> new ArrayList<>())
            .add(new Mark(found.clusterDevices(), value, result.key() + ": " + words.apply(found)));
      }
    }
    List<SweepLine> made = new ArrayList<>();
    lines.forEach((line, marks) -> {
      marks.sort(Comparator.comparingInt(Mark::devices));
      made.add(new SweepLine(String.valueOf(names.get(line)), marks));
    });
    return made;
  }

  private static String name(SweepPoint point, List<Function<SweepPoint, String>> differing) {
    Set<String> words = new LinkedHashSet<>();
    for (Function<SweepPoint, String> part : differing) {
      words.add(part.apply(point));
    }
    words.remove("");
    return words.isEmpty() ? point.model().name() : String.join(", ", words);
  }

  /** A cluster's name without its size. */
  private static String kind(SweepPoint point) {
    return point.cluster().value().replaceFirst(":\\d+(x\\d+)*$", "");
  }
}
