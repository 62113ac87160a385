package dev.pipewright.formats.sweep;

import dev.pipewright.formats.sweep.SweepFigures.SweepShape;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Function;

/** The answers of a sweep as a table: a row for each point, in the order of the points. */
public final class SweepCsv {
  /** The name of the file in the folder of a sweep. */
  public static final String NAME = "results.csv";

  private static final List<String> COLUMNS =
      List.of(
          "point",
          "model",
          "cluster",
          "batch",
          "flags",
          "status",
          "seconds",
          "planner",
          "objective",
          "value",
          "lower_bound",
          "step_s",
          "cluster_devices",
          "devices",
          "stages",
          "replicas",
          "schedule",
          "micro_batches",
          "micro_batch",
          "peak_bytes",
          "samples_per_s",
          "tokens_per_s",
          "mfu",
          "sentence");

  private SweepCsv() {}

  /** The table of the points that have an answer; names are those of the sweep's entries. */
  public static String of(List<SweepPoint> points, Map<SweepKey, SweepResult> results) {
    StringBuilder text = new StringBuilder(String.join(",", COLUMNS)).append('\n');
    for (SweepPoint point : points) {
      SweepResult result = results.get(point.key());
      if (result != null) {
        text.append(row(point, result)).append('\n');
      }
    }
    return text.toString();
  }

  private static String row(SweepPoint point, SweepResult result) {
    List<String> cells = new ArrayList<>();
    cells.add(Integer.toString(point.number()));
    cells.add(point.model().name());
    cells.add(point.cluster().name());
    cells.add(point.batch().name());
    cells.add(point.flags().name());
    cells.add(result.status().word());
    cells.add(Double.toString(Math.round(result.seconds() * 1e6) / 1e6));
    Optional<SweepFigures> figures = result.figures();
    cells.add(cell(figures, SweepFigures::planner));
    cells.add(cell(figures, SweepFigures::objective));
    cells.add(number(figures, found -> OptionalDouble.of(found.value())));
    cells.add(number(figures, SweepFigures::lowerBound));
    cells.add(number(figures, found -> OptionalDouble.of(found.stepSeconds())));
    cells.add(cell(figures, found -> Integer.toString(found.clusterDevices())));
    cells.add(cell(figures, found -> Integer.toString(found.devices())));
    Optional<SweepShape> shape = figures.map(SweepFigures::shape);
    cells.add(cell(shape, plan -> Integer.toString(plan.stages())));
    cells.add(cell(shape, plan -> Integer.toString(plan.replicas())));
    cells.add(cell(shape, SweepShape::schedule));
    cells.add(cell(shape, plan -> Integer.toString(plan.microBatches())));
    cells.add(cell(shape, plan -> Integer.toString(plan.microBatch())));
    cells.add(cell(figures, found -> Long.toString(Math.round(found.peakBytes()))));
    cells.add(number(figures, SweepFigures::samplesPerSecond));
    cells.add(number(figures, SweepFigures::tokensPerSecond));
    cells.add(number(figures, SweepFigures::utilization));
    cells.add(result.sentence());
    return String.join(",", cells.stream().map(SweepCsv::quoted).toList());
  }

  private static <T> String cell(Optional<T> of, Function<T, String> word) {
    return of.map(word).orElse("");
  }

  private static String number(
      Optional<SweepFigures> figures, Function<SweepFigures, OptionalDouble> of) {
    return cell(
        figures.map(of).filter(OptionalDouble::isPresent),
        value -> Double.isFinite(value.getAsDouble()) ? "" + value.getAsDouble() : "");
  }

  /** RFC 4180: a cell with a comma, quote or line end stands in quotes, which it doubles. */
  private static String quoted(String cell) {
    return cell.matches("[^\",\r\n]*") ? cell : '"' + cell.replace("\"", "\"\"") + '"';
  }
}
