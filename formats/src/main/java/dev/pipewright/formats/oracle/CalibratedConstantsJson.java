package dev.pipewright.formats.oracle;

import dev.pipewright.formats.json.Fields;
import dev.pipewright.formats.json.Node;
import dev.pipewright.formats.json.Tree;
import dev.pipewright.predict.transformer.CalibratedConstants;
import dev.pipewright.predict.transformer.CalibratedConstants.Errors;
import dev.pipewright.predict.transformer.CalibratedConstants.HiddenRange;
import dev.pipewright.predict.transformer.CalibratedConstants.LogInterval;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads {@code stack-constants.json}: each calibrated constant with its spread (the standard
 * deviation of its logarithm), the number of rows that depend on it, source and date; intervals;
 * and the hidden sizes that were fitted.
 */
public final class CalibratedConstantsJson {
  private CalibratedConstantsJson() {}

  /** The constants that the program comes with. */
  public static CalibratedConstants read() {
    Fields root =
        Tree.resource(CalibratedConstantsJson.class, "stack-constants.json")
            .object(List.of("date", "rows", "constants", "intervals", "ranges"));
    Map<String, Double> values = new LinkedHashMap<>();
    for (Node each : root.required("constants").list()) {
      Fields constant =
          each.object(List.of("name", "value", "spread_log", "rows", "source", "date"));
      values.put(constant.required("name").text(), constant.required("value").finite());
    }
    Map<String, Errors> errors = new LinkedHashMap<>();
    for (Node each : root.required("intervals").list()) {
      Fields fields = each.object(List.of("class", "inside", "outside"));
      errors.put(
          fields.required("class").text(),
          new Errors(interval(fields.required("inside")), interval(fields.required("outside"))));
    }
    Map<String, HiddenRange> ranges = new LinkedHashMap<>();
    for (Node each : root.required("ranges").list()) {
      Fields fields = each.object(List.of("framework", "chip", "precision", "layers", "hidden"));
      List<Integer> hidden = fields.counts("hidden", 1);
      ranges.put(
          CalibratedConstants.key(
              fields.required("framework").text(),
              fields.required("chip").text(),
              fields.required("precision").text(),
              fields.required("layers").text()),
          new HiddenRange(hidden.get(0), hidden.get(1)));
    }
    return new CalibratedConstants(values, errors, ranges);
  }

  private static LogInterval interval(Node node) {
    List<Node> ends = node.list();
    return new LogInterval(ends.get(0).finite(), ends.get(1).finite());
  }
}
