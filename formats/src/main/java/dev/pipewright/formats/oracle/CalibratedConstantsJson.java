package dev.pipewright.formats.oracle;

import dev.pipewright.formats.json.Fields;
import dev.pipewright.formats.json.JsonText;
import dev.pipewright.formats.json.Node;
import dev.pipewright.formats.json.Tree;
import dev.pipewright.formats.oracle.CalibrationRecord.Constant;
import dev.pipewright.predict.transformer.CalibratedConstants;
import dev.pipewright.predict.transformer.CalibratedConstants.Errors;
import dev.pipewright.predict.transformer.CalibratedConstants.HiddenRange;
import dev.pipewright.predict.transformer.CalibratedConstants.LogInterval;
import dev.pipewright.units.Range;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Reads and writes {@code stack-constants.json} and files like it: each calibrated constant with
 * its spread (the standard deviation of its logarithm), the number of rows that depend on it,
 * source and date; intervals; and the hidden sizes that were fitted. {@code calibrate} adds how the
 * fit went, under {@code fit}, which is not read.
 */
public final class CalibratedConstantsJson {
  private static final List<String> KEYS =
      List.of("machine", "date", "rows", "constants", "intervals", "ranges", "fit");

  private CalibratedConstantsJson() {}

  /** Read once: planners ask for them once for each way to divide layers. */
  private static final class Shipped {
    static final CalibrationRecord RECORD =
        record(Tree.resource(CalibratedConstantsJson.class, "stack-constants.json"));
    static final CalibratedConstants CONSTANTS = RECORD.calibrated();
  }

  /** The constants that the program comes with. */
  public static CalibratedConstants read() {
    return Shipped.CONSTANTS;
  }

  /** The same with their sources. */
  public static CalibrationRecord shipped() {
    return Shipped.RECORD;
  }

  /**
   * The constants of a file that {@code calibrate} wrote.
   *
   * @throws dev.pipewright.formats.file.BadInputException with line and reason; also where one of
   *     the shipped constants is missing, because only whole sets make sense
   */
  public static CalibrationRecord read(Path file) {
    Node root = Tree.json(file);
    CalibrationRecord record = record(root);
    Set<String> missing = names(shipped());
    missing.removeAll(names(record));
    if (!missing.isEmpty()) {
      throw root.wrong(
          "has no constant \"%s\"; write the whole set, as `calibrate` does"
              .formatted(missing.iterator().next()));
    }
    return record;
  }

  private static Set<String> names(CalibrationRecord record) {
    return record.constants().stream()
        .map(Constant::name)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** What the file says, also where names are missing. */
  static CalibrationRecord record(Node root) {
    Fields fields = root.object(KEYS);
    List<Constant> constants = new ArrayList<>();
    Set<String> seen = new TreeSet<>();
    for (Node each : fields.required("constants").list()) {
      Constant constant = constant(each);
      if (!seen.add(constant.name())) {
        throw each.wrong("the constant \"%s\" stands twice; keep one".formatted(constant.name()));
      }
      constants.add(constant);
    }
    Map<String, Errors> errors = new LinkedHashMap<>();
    for (Node each : fields.required("intervals").list()) {
      Fields interval = each.object(List.of("class", "inside", "outside", "difference"));
      errors.put(
          interval.required("class").text(),
          each.checked(() ->
              new Errors(
                  interval(interval.required("inside")),
                  interval(interval.required("outside")),
                  interval.required("difference").finite())));
    }
    return new CalibrationRecord(
        fields.optional("machine").map(Node::text),
        fields.required("date").text(),
        fields.required("rows").count(0),
        constants,
        errors,
        ranges(fields.required("ranges")));
  }

  private static Constant constant(Node node) {
    Fields fields = node.object(List.of("name", "value", "spread_log", "rows", "source", "date"));
    return new Constant(
        fields.required("name").text(),
        fields.required("value").positive(Range.FACTOR),
        fields.required("spread_log").finite(),
        fields.required("rows").count(0),
        fields.required("source").text(),
        fields.required("date").text());
  }

  private static Map<String, HiddenRange> ranges(Node node) {
    Map<String, HiddenRange> ranges = new LinkedHashMap<>();
    for (Node each : node.list()) {
      Fields fields = each.object(List.of("framework", "chip", "precision", "layers", "hidden"));
      List<Integer> hidden = fields.counts("hidden", 1);
      if (hidden.size() != 2) {
        throw fields.required("hidden").wrong("must have two sizes, the least and the largest");
      }
      ranges.put(
          CalibratedConstants.key(
              fields.required("framework").text(),
              fields.required("chip").text(),
              fields.required("precision").text(),
              fields.required("layers").text()),
          new HiddenRange(hidden.get(0), hidden.get(1)));
    }
    return ranges;
  }

  private static LogInterval interval(Node node) {
    List<Node> ends = node.list();
    if (ends.size() != 2) {
      throw node.wrong("must have two ends, the low one and the high one");
    }
    return node.checked(() -> new LogInterval(ends.get(0).finite(), ends.get(1).finite()));
  }

  /** The file of {@code record}; {@code fit} says how the fit went, and may be empty. */
  public static String text(CalibrationRecord record, Map<String, ?> fit) {
    Map<String, Object> root = new LinkedHashMap<>();
    record.machine().ifPresent(machine -> root.put("machine", machine));
    root.put("date", record.date());
    root.put("rows", record.rows());
    root.put("constants", record.constants().stream().map(CalibratedConstantsJson::of).toList());
    root.put(
        "intervals",
        new TreeMap<>(record.errors())
            .entrySet().stream()
                .map(entry -> {
                  Map<String, Object> object =
                      JsonText.pair(
                          "class", entry.getKey(), "inside", ends(entry.getValue().inside()));
                  object.put("outside", ends(entry.getValue().outside()));
                  object.put("difference", entry.getValue().difference());
                  return object;
                })
                .toList());
    root.put(
        "ranges",
        new TreeMap<>(record.ranges())
            .entrySet().stream().map(entry -> range(entry.getKey(), entry.getValue())).toList());
    if (!fit.isEmpty()) {
      root.put("fit", fit);
    }
    return JsonText.of(root);
  }

  private static Map<String, Object> of(Constant constant) {
    Map<String, Object> object = JsonText.pair("name", constant.name(), "value", constant.value());
    object.put("spread_log", constant.spread());
    object.put("rows", constant.rows());
    object.put("source", constant.source());
    object.put("date", constant.date());
    return object;
  }

  private static Map<String, Object> range(String key, HiddenRange range) {
    String[] parts = key.split(" \\| ", -1);
    int blank = parts[2].lastIndexOf(' ');
    Map<String, Object> object = JsonText.pair("framework", parts[0], "chip", parts[1]);
    object.put("precision", parts[2].substring(0, blank));
    object.put("layers", parts[2].substring(blank + 1));
    object.put("hidden", List.of(range.least(), range.most()));
    return object;
  }

  private static List<Double> ends(LogInterval interval) {
    return List.of(interval.low(), interval.high());
  }
}
