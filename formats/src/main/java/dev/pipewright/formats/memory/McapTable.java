package dev.pipewright.formats.memory;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.TextLines;
import dev.pipewright.formats.json.Fields;
import dev.pipewright.formats.json.Node;
import dev.pipewright.formats.json.Tree;
import dev.pipewright.planner.memory.LayerPeaks;
import dev.pipewright.planner.memory.ProfilingRun;
import dev.pipewright.units.Range;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads measured peaks of layers for mCAP: comma-separated values with the columns {@code alone}
 * and {@code added} in bytes, one line per layer in order ({@code added} of the first is not read
 * and may be negative elsewhere, other columns are ignored); or JSON with either {@code "layers":
 * [{"alone": …, "added": …}]} or {@code "runs": [{"layers": [1, 1, 2], "peak_bytes": […]}]}, the
 * partitions that were run, from which both metrics follow.
 */
public final class McapTable {
  private static final int HEAD = 4096; // bytes that tell a table from other files

  /** The planners that go by peaks look at all pairs of layers. */
  private static final int MOST_LAYERS = 5_000;

  private static final List<String> METRICS = List.of("alone", "added");
  private static final List<String> RUN = List.of("layers", "peak_bytes");

  private final Path file;
  private final List<double[]> rows = new ArrayList<>();
  private List<String> columns = List.of();

  private McapTable(Path file) {
    this.file = file;
  }

  /** Whether a file begins like such a table. */
  public static boolean isTable(Path file) {
    if (!Files.isRegularFile(file)) {
      return false;
    }
    try (InputStream in = Files.newInputStream(file)) {
      String head = new String(in.readNBytes(HEAD), StandardCharsets.UTF_8);
      boolean json = head.stripLeading().startsWith("{");
      return json
          ? head.contains("\"alone\"") || head.contains("\"peak_bytes\"")
          : head.lines().findFirst().orElse("").contains("alone");
    } catch (IOException e) {
      throw new UncheckedIOException(file + " cannot be read", e);
    }
  }

  /** Throws {@link BadInputException} for a hole, naming its line. */
  public static LayerPeaks read(Path file) {
    return file.toString().endsWith(".json") ? json(file) : new McapTable(file).csv();
  }

  private static LayerPeaks json(Path file) {
    Node root = Tree.json(file);
    Fields fields = root.object(List.of("layers", "runs"));
    if (fields.optional("runs").isPresent() == fields.optional("layers").isPresent()) {
      throw root.wrong("holds neither or both of \"layers\" and \"runs\"; give one of them");
    }
    if (fields.optional("runs").isPresent()) {
      Node runs = fields.required("runs");
      List<ProfilingRun> measured = runs.list().stream().map(McapTable::run).toList();
      return runs.checked(() -> ProfilingRun.peaks(measured));
    }
    Node layers = fields.required("layers");
    if (layers.list().size() > MOST_LAYERS) {
      throw layers.wrong(tooManyLayers());
    }
    List<double[]> rows = new ArrayList<>();
    for (Node layer : layers.list()) {
      Fields metrics = layer.object(METRICS);
      double alone = metrics.required("alone").amount(Range.BYTES);
      double added = rows.isEmpty() ? 0 : metrics.required("added").amount(Range.BYTES);
      rows.add(new double[] {alone, added});
    }
    return layers.checked(() -> peaks(rows));
  }

  private static ProfilingRun run(Node node) {
    Fields fields = node.object(RUN);
    int[] sizes = fields.counts("layers", 1).stream().mapToInt(Integer::intValue).toArray();
    double[] bytes =
        fields.required("peak_bytes").list().stream()
            .mapToDouble(peak -> peak.amount(Range.BYTES))
            .toArray();
    return node.checked(() -> new ProfilingRun(sizes, bytes));
  }

  private static String tooManyLayers() {
    return "the table has more than %,d layers; merge layers into blocks".formatted(MOST_LAYERS);
  }

  private static LayerPeaks peaks(List<double[]> rows) {
    return new LayerPeaks(
        rows.stream().mapToDouble(row -> row[0]).toArray(),
        rows.stream().mapToDouble(row -> row[1]).toArray());
  }

  private LayerPeaks csv() {
    try (TextLines text = TextLines.open(file, "a table of peaks")) {
      for (@Nullable String line = text.next(); line != null; line = text.next()) {
        if (line.isBlank()) {
          continue;
        }
        List<String> cells = Arrays.stream(line.split(",", -1)).map(String::strip).toList();
        if (columns.isEmpty()) {
          headings(cells, text.number());
        } else {
          layer(cells, text.number());
          if (rows.size() > MOST_LAYERS) {
            throw BadInputException.at(file, text.number(), tooManyLayers());
          }
        }
      }
    }
    if (rows.isEmpty()) {
      throw BadInputException.at(
          file,
          1,
          "holds no layers; expected the headings alone and added, and a line for each layer");
    }
    return peaks(rows);
  }

  private void headings(List<String> cells, int number) {
    columns = cells;
    for (String metric : METRICS) {
      if (!cells.contains(metric)) {
        throw BadInputException.at(
            file, number, "has no column " + metric + "; add it among the headings");
      }
    }
  }

  private void layer(List<String> cells, int number) {
    if (cells.size() != columns.size()) {
      throw BadInputException.at(
          file,
          number,
          "%d values stand under %d headings; expected one for each"
              .formatted(cells.size(), columns.size()));
    }
    double alone = metric(cells, "alone", number);
    if (alone < 0) {
      throw BadInputException.at(
          file, number, "alone=" + alone + " is no amount of memory; give bytes >= 0");
    }
    rows.add(new double[] {alone, rows.isEmpty() ? 0 : metric(cells, "added", number)});
  }

  private double metric(List<String> cells, String column, int number) {
    String cell = cells.get(columns.indexOf(column));
    if (cell.isEmpty()) {
      throw BadInputException.at(
          file,
          number,
          "layer %d has no peak %s; measure it, or leave the table out to plan by shapes"
              .formatted(rows.size(), column));
    }
    @Nullable Double value = TextLines.number(cell);
    if (value == null || !Double.isFinite(value)) {
      throw BadInputException.at(
          file,
          number,
          column + "=" + cell + " is no number of bytes; write digits, like 1048576 or 1.2e9");
    }
    return value;
  }
}
