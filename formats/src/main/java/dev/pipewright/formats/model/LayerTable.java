package dev.pipewright.formats.model;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.Nearest;
import dev.pipewright.formats.file.TextLines;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Work;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.LayerSizes;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.profile.Provenance;
import dev.pipewright.units.Check;
import dev.pipewright.units.Precision;
import dev.pipewright.units.Range;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads a chain of layers from comma-separated values, one line per layer in order, under a line of
 * headings:
 *
 * <pre>
 * layer,forward_s,backward_s,output_bytes,parameter_bytes
 * embedding,0.0012,0.0001,3145728,125000000
 * block-1,0.0051,0.0102,3145728,28000000
 * </pre>
 *
 * <p>Times and outputs are those of a batch whose size the file does not say. The column {@code
 * kept_bytes}, what the backward pass reads, may be left out: then a layer keeps its output. Lines
 * that begin with {@code #} are comments. Parameters are taken to be 4 bytes each.
 */
public final class LayerTable {
  private static final String LAYER = "layer";
  private static final List<String> REQUIRED =
      List.of(LAYER, "forward_s", "backward_s", "output_bytes", "parameter_bytes");
  private static final String KEPT = "kept_bytes";
  private static final int BYTES_PER_NUMBER = 4;

  private final Path file;
  private final int batch;
  private final List<Layer> layers = new ArrayList<>();
  private final List<LayerSizes> sizes = new ArrayList<>();
  private final List<LayerTimes> times = new ArrayList<>();
  private final Set<String> names = new HashSet<>();
  private List<String> headings = List.of();
  private List<String> cells = List.of();
  private int line;

  private LayerTable(Path file, int batch) {
    this.file = file;
    this.batch = batch;
  }

  /**
   * Throws {@link BadInputException} where a value is missing or wrong.
   *
   * @param profileBatch samples that times and outputs are for
   */
  public static ModelFile read(Path file, int profileBatch) {
    Check.that(profileBatch >= 1, "a batch has samples: profile_batch=%d", profileBatch);
    return new LayerTable(file, profileBatch).model();
  }

  private ModelFile model() {
    try (TextLines text = TextLines.open(file, "a table of layers")) {
      for (@Nullable String row = text.next(); row != null; row = text.next()) {
        if (row.isBlank() || row.startsWith("#")) {
          continue;
        }
        line = text.number();
        cells = Arrays.stream(row.split(",", -1)).map(String::strip).toList();
        if (headings.isEmpty()) {
          addHeadings();
        } else {
          addLayer();
        }
      }
    }
    if (layers.isEmpty()) {
      throw BadInputException.at(
          file, 1, "holds no layers; write a line for each under the headings");
    }
    String name = String.valueOf(file.getFileName());
    Provenance source = new Provenance(name, "on a device that the file does not name", "", true);
    return new ModelFile(
        LayerGraph.chain(name.replaceFirst("\\.csv$", ""), layers),
        new Profile(source, Precision.FP32, sizes, List.of(batch), List.of(times)),
        Optional.empty(),
        Optional.empty());
  }

  private void addHeadings() {
    headings = cells;
    for (String column : REQUIRED) {
      if (!cells.contains(column)) {
        throw wrong("has no column " + column + "; add it among the headings");
      }
    }
    for (String column : cells) {
      if (!REQUIRED.contains(column) && !column.equals(KEPT)) {
        throw wrong("unknown column \"" + column + "\"; " + Nearest.hint(column, columns()));
      }
    }
    if (new HashSet<>(cells).size() < cells.size()) {
      throw wrong("names a column twice; keep one of them");
    }
  }

  private static List<String> columns() {
    List<String> all = new ArrayList<>(REQUIRED);
    all.add(KEPT);
    return all;
  }

  private void addLayer() {
    if (cells.size() != headings.size()) {
      throw wrong(
          "%d values stand under %d headings; expected one for each"
              .formatted(cells.size(), headings.size()));
    }
    String name = cells.get(headings.indexOf(LAYER));
    if (name.isEmpty() || !names.add(name)) {
      throw wrong("layer \"%s\" has no name of its own; give it one".formatted(name));
    }
    if (layers.size() == GraphAssembly.MOST_LAYERS) {
      throw wrong(GraphAssembly.tooManyLayers());
    }
    double output = amount("output_bytes", Range.BYTES) / batch;
    double kept = headings.contains(KEPT) ? amount(KEPT, Range.BYTES) / batch : output;
    double parameters = amount("parameter_bytes", Range.BYTES);
    layers.add(
        new Layer(
            name,
            new Operator.Recorded(name),
            Optional.empty(),
            Math.round(parameters / BYTES_PER_NUMBER),
            Math.round(output / BYTES_PER_NUMBER),
            Math.round(kept / BYTES_PER_NUMBER),
            Work.NONE));
    sizes.add(new LayerSizes(output, kept, parameters));
    times.add(
        new LayerTimes(
            amount("forward_s", Range.SECONDS),
            amount("backward_s", Range.SECONDS),
            Double.NaN,
            0));
  }

  private double amount(String column, Range range) {
    String cell = cells.get(headings.indexOf(column));
    @Nullable Double value = TextLines.number(cell);
    if (value == null || !range.holds(value)) {
      throw wrong("%s=%s is neither 0 nor %s; correct it".formatted(column, cell, range));
    }
    return value;
  }

  private BadInputException wrong(String what) {
    return BadInputException.at(file, line, what);
  }
}
